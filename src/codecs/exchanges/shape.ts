import { isObject, type JsonObject } from '../json/values.ts';

/** The side that an entry in the list of turns belongs to. */
export type Side = 'answer' | 'question';

/** How a format writes both sides of an exchange: answers with their calls, and results with the user's text. */
export interface ExchangeShape {
  /** The field of a request that lists its turns. */
  list: string;
  /** Whether the arguments of calls are a text, JSON within JSON, and no object. */
  nestsArguments: boolean;
  /**
   * Who says an entry. Null for one that has anything which is not translated alike wherever it stands, or that is named in
   * `dropped`: only texts, thoughts, calls and results of functions, with the fields that every client writes.
   */
  side(entry: unknown): Side | null;
  /** A call and its result, as two entries or more. */
  exchange(id: string, name: string, result: string): JsonObject[];
  /**
   * The entries with generated ids for calls without one (`adapt/call-ids.ts`), for a format in which ids are optional;
   * null if they cannot be generated. `counts`: the number of calls before, by the name of the tool; those of the
   * entries are added.
   */
  withIds?(entries: readonly unknown[], counts: Map<string, number>): unknown[] | null;
}

/** What is tested of a field. */
type Test = (value: unknown) => boolean;
/** Fields that an object may have; it must have those that pass no `undefined`. */
export type Shape = Readonly<Record<string, Test>>;

export const isText: Test = (value) => typeof value === 'string';
export const isNoText: Test = (value) => value === undefined || value === null || value === '';
export const isTextOrNone: Test = (value) => value === undefined || value === null || isText(value);
export const isNothing: Test = (value) =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);
export const is =
  (expected: string): Test =>
  (value) =>
    value === expected;

/** Whether a value is an object with fields of the shape alone. */
export function fits(value: unknown, shape: Shape): value is JsonObject {
  if (!isObject(value)) return false;
  for (const name in value) if (!Object.hasOwn(shape, name)) return false;
  for (const name in shape) if (shape[name]?.(value[name]) !== true) return false;
  return true;
}

/** Whether a value is an object that fits the shape which its `type` names. */
export function fitsItsType(value: unknown, shapes: Readonly<Record<string, Shape>>): boolean {
  const type = isObject(value) ? value['type'] : null;
  const shape = typeof type === 'string' && Object.hasOwn(shapes, type) ? shapes[type] : undefined;
  return shape !== undefined && fits(value, shape);
}

/** A test for lists whose entries all pass. */
export function listOfAll(test: Test): Test {
  return (value) => Array.isArray(value) && value.every(test);
}
