import { isObject, type JsonObject } from '../json/values.ts';
import { wrong } from '../json/wire-check.ts';

/**
 * The fields of a message under their names in camel case: Google's servers take `system_instruction` as well as
 * `systemInstruction` (ProtoJSON). Only the object itself is changed, for what is in it may be the client's data.
 */
export function camel(value: JsonObject): JsonObject {
  if (!hasUnderscore(value)) return value;
  const result = new Map<string, unknown>();
  for (const [name, field] of Object.entries(value)) {
    const wire = camelName(name);
    if (wire === name || !Object.hasOwn(value, wire)) result.set(wire, field);
  }
  return Object.fromEntries(result);
}

function hasUnderscore(value: JsonObject): boolean {
  for (const name in value) if (name.includes('_')) return true;
  return false;
}

/** A field's name in camel case. */
export function camelName(name: string): string {
  if (!name.includes('_')) return name;
  return name.replace(/(?!^)_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** The message, or null when it is absent. @throws GatewayError for anything else */
export function messageAt<Wire extends JsonObject>(
  body: Wire,
  name: keyof Wire & string,
  path: string,
): JsonObject | null {
  const value: unknown = body[name];
  if (value === undefined || value === null) return null;
  if (!isObject(value)) throw wrong(path, 'an object');
  return camel(value);
}

/** The messages of a list, with their paths; one alone stands for a list of one, as Google's servers take it. */
export function messagesAt<Wire extends JsonObject>(
  body: Wire,
  name: keyof Wire & string,
  path: string,
): [JsonObject, string][] {
  const value: unknown = body[name];
  if (value === undefined || value === null) return [];
  if (isObject(value)) return [[camel(value), path]];
  if (!Array.isArray(value)) throw wrong(path, 'a list');
  return value.map((item, index) => {
    const at = `${path}[${index}]`;
    if (!isObject(item)) throw wrong(at, 'an object');
    return [camel(item), at];
  });
}
