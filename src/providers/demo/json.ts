import { GatewayError } from '../../lib/error.ts';

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The items of an array that are objects; nothing for what is no array. */
export function objectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export function textOr(value: unknown, fallback: string): string {
  return typeof value === 'string' ? value : fallback;
}

export function invalid(message: string, param: string): GatewayError {
  return new GatewayError('invalid_request', message, { param });
}

/** @throws GatewayError when `field` is there and is no array of objects */
export function optionalObjects(body: JsonObject, field: string): JsonObject[] {
  const value = body[field];
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || !value.every(isObject)) {
    throw invalid(`${field} must be an array of objects`, field);
  }
  return value;
}

/** @throws GatewayError when `field` is missing, empty or no array of objects */
export function requiredObjects(body: JsonObject, field: string): JsonObject[] {
  const value = optionalObjects(body, field);
  if (value.length === 0) throw invalid(`${field} must be an array with at least one object`, field);
  return value;
}

/** @throws GatewayError when `field` is there and is no whole number of at least `least` */
export function optionalCount(body: JsonObject, field: string, least: number): number | null {
  const value = body[field];
  if (value === undefined || value === null) return null;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least) {
    throw invalid(`${field} must be a whole number of at least ${least}`, field);
  }
  return value;
}

/** @throws GatewayError when `field` is there and is no boolean */
export function optionalFlag(body: JsonObject, field: string): boolean {
  const value = body[field];
  if (value === undefined || value === null) return false;
  if (typeof value !== 'boolean') throw invalid(`${field} must be true or false`, field);
  return value;
}

/** One string or several. @throws GatewayError for anything else */
export function optionalStrings(body: JsonObject, field: string): string[] {
  const value = body[field];
  if (value === undefined || value === null) return [];
  if (typeof value === 'string') return [value];
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  throw invalid(`${field} must be a string or an array of strings`, field);
}

/**
 * The text of a message's content: a string, or parts of which those with a `text` count.
 * @throws GatewayError when it is neither
 */
export function textOfContent(content: unknown, field: string): string {
  if (typeof content === 'string') return content;
  if (content === undefined || content === null) return '';
  if (!Array.isArray(content)) throw invalid(`${field} must be a string or an array of parts`, field);
  const texts: string[] = [];
  for (const part of content) {
    const text = typeof part === 'string' ? part : isObject(part) ? part['text'] : undefined;
    if (typeof text === 'string' && text !== '') texts.push(text);
  }
  return texts.join('\n');
}
