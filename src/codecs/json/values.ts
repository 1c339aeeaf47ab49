import { utf8Length } from '../../lib/bytes.ts';
import { LosslessNumber, numberOf, parseJson } from './lossless.ts';

/** Loose reading of wire JSON: every function takes what came and answers with something safe. */
export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof LosslessNumber)
  );
}

/** A table in which words from outside are looked up: it has its own rows alone, and no "constructor". */
export function table<T>(rows: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  const own: Record<string, T> = Object.create(null);
  for (const [name, row] of Object.entries(rows)) own[name] = row;
  return own;
}

/**
 * The object, or an empty one.
 * @typeParam Wire the names that are read of it: a type of a format's `wire.ts`, in which each is optional and unknown
 */
export function objectOf<Wire extends JsonObject = JsonObject>(value: unknown): Wire;
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** The fields that say something: neither null nor undefined. */
export function definedFields(fields: JsonObject): JsonObject {
  const result: JsonObject = {};
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (value !== undefined && value !== null) result[name] = value;
  }
  return result;
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The text, also an empty one; null for anything else. */
export function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** The number, if it can be a count of tokens; else null. */
export function countIn(value: unknown): number | null {
  const number = numberOf(value);
  return number !== null && Number.isFinite(number) && number >= 0 ? number : null;
}

/** True for a number that can be a count of tokens. */
export function isCount(value: unknown): boolean {
  return countIn(value) !== null;
}

/**
 * More than any answer can use of anything. A count that an upstream reports above it is read as this: sums stay exact,
 * and no mistake of an upstream costs more than that.
 */
export const MAX_COUNT = 1_000_000_000;

/** A count as a whole number that can be. */
export function wholeCount(count: number): number {
  return Math.min(Math.floor(count), MAX_COUNT);
}

/** The first of `values` that is a count, as a whole number; else 0. */
export function countOf(...values: unknown[]): number {
  for (const value of values) {
    const count = countIn(value);
    if (count !== null) return wholeCount(count);
  }
  return 0;
}

/** The JSON object that `text` holds, its numbers with all their digits (`lossless.ts`); null for anything else. */
export function parseObject(text: string): JsonObject | null {
  try {
    const value = parseJson(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** UTF-8 bytes of a string; of any other JSON value, the bytes of its text; 0 for nothing. */
export function byteLengthOf(value: unknown): number {
  if (value === undefined || value === null) return 0;
  return utf8Length(typeof value === 'string' ? value : JSON.stringify(value));
}
