import { GatewayError } from '../../lib/error.ts';
import { numberOf } from './lossless.ts';
import { isObject, type JsonObject } from './values.ts';

/** A name that a format's `wire.ts` has; any name of an object that nothing says more about. */
type NameIn<Wire extends JsonObject> = keyof Wire & string;

/** A request's field that has the wrong type, by its path and what it must be. */
export function wrong(path: string, must: string): GatewayError {
  return new GatewayError('invalid_request', `"${path}" must be ${must}`, { param: path });
}

/** The number, or null when it is absent. @throws GatewayError for anything else */
export function numberAt<Wire extends JsonObject>(
  body: Wire,
  name: NameIn<Wire>,
  path: string = name,
): number | null {
  const value: unknown = body[name];
  if (value === undefined || value === null) return null;
  const number = numberOf(value);
  if (number === null || !Number.isFinite(number)) throw wrong(path, 'a number');
  return number;
}

/** The text, or null when it is absent. @throws GatewayError for anything else */
export function textAt<Wire extends JsonObject>(
  body: Wire,
  name: NameIn<Wire>,
  path: string = name,
): string | null {
  const value: unknown = body[name];
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string') throw wrong(path, 'a string');
  return value;
}

/** The truth value, or null when it is absent. @throws GatewayError for anything else */
export function flagAt<Wire extends JsonObject>(
  body: Wire,
  name: NameIn<Wire>,
  path: string = name,
): boolean | null {
  const value: unknown = body[name];
  if (value === undefined || value === null) return null;
  if (typeof value !== 'boolean') throw wrong(path, 'true or false');
  return value;
}

/** The object, or null when it is absent. @throws GatewayError for anything else */
export function objectAt<Wire extends JsonObject>(
  body: Wire,
  name: NameIn<Wire>,
  path: string = name,
): JsonObject | null {
  const value: unknown = body[name];
  if (value === undefined || value === null) return null;
  if (!isObject(value)) throw wrong(path, 'an object');
  return value;
}

/** The list, empty when it is absent. @throws GatewayError for anything else */
export function listAt<Wire extends JsonObject>(
  body: Wire,
  name: NameIn<Wire>,
  path: string = name,
): unknown[] {
  const value: unknown = body[name];
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw wrong(path, 'a list');
  return value;
}

/** The texts, of which one may stand for a list; none when it is absent. @throws GatewayError for anything else */
export function textsAt<Wire extends JsonObject>(body: Wire, name: NameIn<Wire>): string[] {
  const value: unknown = body[name];
  if (value === undefined || value === null) return [];
  const list = typeof value === 'string' ? [value] : value;
  if (!Array.isArray(list) || !list.every((one) => typeof one === 'string'))
    throw wrong(name, 'a string or a list of strings');
  return list;
}

/** The fields of `body` that are not in `knownNames`; null when there are none. */
export function extraFields(body: JsonObject, knownNames: ReadonlySet<string>): JsonObject | null {
  let rest: JsonObject | null = null;
  for (const name of Object.keys(body)) {
    if (knownNames.has(name) || body[name] === null || name === '__proto__') continue;
    rest ??= {};
    rest[name] = body[name];
  }
  return rest;
}
