import { isObject, type JsonObject } from './values.ts';

/** Keys whose string values are names, not growing text: the last one counts. */
export type FixedKeys = ReadonlySet<string>;

/**
 * Adds a stream's delta to what was collected so far: strings grow, lists grow, objects merge, other values
 * replace. A null never replaces a value; it stands when nothing else comes. The lists and objects in `target` are
 * changed: they must be its own.
 */
export function growObject(target: JsonObject, delta: JsonObject, fixed: FixedKeys): void {
  for (const key of Object.keys(delta)) {
    // Assigning to `__proto__` would change the object's prototype instead of adding a field.
    if (key === '__proto__') continue;
    const value = delta[key];
    target[key] = fixed.has(key) ? (value ?? target[key] ?? null) : grown(target[key], value, fixed);
  }
}

const none: ReadonlySet<string> = new Set();

/**
 * Adds a later record of the same shape: every value that is not null replaces the earlier one.
 * @param except fields that are not added
 */
export function overlay(target: JsonObject, later: JsonObject, except: ReadonlySet<string> = none): void {
  for (const key of Object.keys(later)) {
    if (key === '__proto__' || except.has(key)) continue;
    const value = later[key];
    if (value !== null || target[key] === undefined) target[key] = value;
  }
}

function grown(before: unknown, value: unknown, fixed: FixedKeys): unknown {
  if (value === null || value === undefined) return before ?? null;
  if (before === null || before === undefined) return ownCopy(value);
  if (typeof before === 'string' && typeof value === 'string') return before + value;
  if (Array.isArray(before)) {
    for (const part of parts(value)) before.push(part);
    return before;
  }
  if (Array.isArray(value)) return [...parts(before), ...value];
  if (isObject(before) && isObject(value)) {
    growObject(before, value, fixed);
    return before;
  }
  return value;
}

/** Adds to the list that a field of `target` is, which must be its own; makes one where there is none. */
export function addTo(target: JsonObject, field: string, value: unknown): void {
  const list = target[field];
  if (Array.isArray(list)) list.push(value);
  else target[field] = [value];
}

/** The same value with lists and objects of its own, which may grow. */
function ownCopy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ownCopy);
  return isObject(value) ? ownObject(value) : value;
}

export function ownObject(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, ownCopy(inner)]));
}

/** Content may change from a string to a list of parts in the middle of a stream. */
function parts(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  return value === '' ? [] : [{ type: 'text', text: value }];
}
