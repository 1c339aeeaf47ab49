import { isObject, type JsonObject, listOf, objectOf, textOf } from '../../json/values.ts';
import type { FunctionCall, PartialArg } from '../wire.ts';

/** Steps of a path that are followed; the arguments of tools are nested far less. */
const MAX_STEPS = 64;

/**
 * The arguments of a call that come piece by piece, each with its place as a JSON path (Vertex AI's
 * `streamFunctionCallArguments`: `partialArgs` of `FunctionCall`).
 */
export class PartialArgs {
  readonly #args: JsonObject;
  /** Whether a piece had a place or a value that cannot be understood. */
  broken = false;

  constructor(call: FunctionCall) {
    this.#args = { ...objectOf(call.args) };
    this.add(call);
  }

  get args(): JsonObject {
    return this.#args;
  }

  add(call: FunctionCall): void {
    for (const piece of listOf(call.partialArgs).map(objectOf<PartialArg>)) {
      const steps = stepsOf(textOf(piece.jsonPath));
      if (steps === null || !put(this.#args, steps, valueIn(piece))) this.broken = true;
    }
  }
}

/** Whether a call continues in a later part. */
export function willContinue(call: FunctionCall): boolean {
  return call.willContinue === true;
}

function valueIn(piece: PartialArg): unknown {
  for (const value of [piece.stringValue, piece.numberValue, piece.boolValue])
    if (value !== undefined && value !== null) return value;
  // The first piece of a string may be without any.
  return 'nullValue' in piece ? null : '';
}

const STEP = /\.([^.[\]]+)|\[(\d{1,6})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y;

/** The steps of a path from the root `$`; null for anything but names and indexes. */
function stepsOf(path: string): (string | number)[] | null {
  if (!path.startsWith('$') || path.length === 1) return null;
  const steps: (string | number)[] = [];
  let at = 1;
  while (at < path.length) {
    STEP.lastIndex = at;
    const match = STEP.exec(path);
    if (match === null || steps.length === MAX_STEPS) return null;
    const [, name, index, single, double] = match;
    steps.push(index === undefined ? (name ?? unescaped(single ?? double ?? '')) : Number(index));
    at = STEP.lastIndex;
  }
  return steps;
}

function unescaped(name: string): string {
  return name.replace(/\\(.)/g, '$1');
}

/** Puts a value at its place; text is added to text that stands there. False where there is no such place. */
function put(root: JsonObject, steps: readonly (string | number)[], value: unknown): boolean {
  let place: JsonObject | unknown[] = root;
  for (const [depth, step] of steps.entries()) {
    const next = steps[depth + 1];
    const before = memberOf(place, step);
    if (before === NO_PLACE) return false;
    if (next === undefined) {
      setField(place, step, typeof before === 'string' && typeof value === 'string' ? before + value : value);
      return true;
    }
    const inner: unknown = before ?? (typeof next === 'number' ? [] : {});
    if (!isObject(inner) && !Array.isArray(inner)) return false;
    if (before === undefined || before === null) setField(place, step, inner);
    place = inner;
  }
  return false;
}

const NO_PLACE = Symbol('no place');

/** The field at a step; a list grows by one at a time, and a prototype is no place. */
function memberOf(place: JsonObject | unknown[], step: string | number): unknown {
  if (Array.isArray(place)) return typeof step === 'number' && step <= place.length ? place[step] : NO_PLACE;
  if (typeof step === 'number' || step === '__proto__') return NO_PLACE;
  return Object.hasOwn(place, step) ? place[step] : undefined;
}

function setField(place: JsonObject | unknown[], step: string | number, value: unknown): void {
  (place as Record<string | number, unknown>)[step] = value;
}
