/** Loose reading of wire JSON: every function takes what came and answers with something safe. */
export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A table in which words from outside are looked up: it has its own rows alone, and no "constructor". */
export function table<T>(rows: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.assign(Object.create(null), rows);
}

/** The object, or an empty one. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** True for a number that can be a count of tokens. */
export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

/** The first of `values` that is a count, as a whole number; else 0. */
export function countOf(...values: unknown[]): number {
  const found = values.find(isCount);
  return found === undefined ? 0 : Math.floor(found);
}

/** The JSON object that `text` holds, or null for anything else. */
export function parseObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** UTF-8 bytes of a string; of any other JSON value, the bytes of its text; 0 for nothing. */
export function byteLengthOf(value: unknown): number {
  if (value === undefined || value === null) return 0;
  return Buffer.byteLength(typeof value === 'string' ? value : JSON.stringify(value));
}
