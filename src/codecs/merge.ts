import { isObject, type JsonObject } from './values.ts';

/** Keys whose string values are names, not growing text: the last one counts. */
export type FixedKeys = ReadonlySet<string>;

/**
 * Adds a stream's delta to what was collected so far: strings grow, lists grow, objects merge, other values
 * replace. A null never replaces a value; it stands when nothing else comes.
 */
export function growObject(target: JsonObject, delta: JsonObject, fixed: FixedKeys): void {
  for (const [key, value] of Object.entries(delta)) {
    // Assigning to `__proto__` would change the object's prototype instead of adding a member.
    if (key === '__proto__') continue;
    target[key] = fixed.has(key) ? (value ?? target[key] ?? null) : grown(target[key], value, fixed);
  }
}

/** Adds a later record of the same shape: every value that is not null replaces the earlier one. */
export function overlay(target: JsonObject, later: JsonObject): void {
  for (const [key, value] of Object.entries(later)) {
    if (key === '__proto__') continue;
    if (value !== null || target[key] === undefined) target[key] = value;
  }
}

function grown(before: unknown, value: unknown, fixed: FixedKeys): unknown {
  if (value === null || value === undefined) return before ?? null;
  if (before === null || before === undefined) return structuredClone(value);
  if (typeof before === 'string' && typeof value === 'string') return before + value;
  if (Array.isArray(before) || Array.isArray(value)) return [...parts(before), ...parts(value)];
  if (isObject(before) && isObject(value)) {
    growObject(before, value, fixed);
    return before;
  }
  return value;
}

/** Content may change from a string to a list of parts in the middle of a stream. */
function parts(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  return value === '' ? [] : [{ type: 'text', text: value }];
}
