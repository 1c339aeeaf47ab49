import { isObject, type JsonObject, parseObject } from '../json/values.ts';

/** Shorter texts cannot be nested too deeply. */
const SHALLOW = 2_000;

/**
 * Arguments as the object that a format requires; '' stands for none. What is no object is kept as text in one, for the
 * tool or the model to see what was written: `{"raw_arguments": "…"}`.
 */
export function argumentsOf(text: string): JsonObject {
  if (text.trim() === '') return {};
  const parsed = parseObject(text);
  const isSayable = parsed !== null && (text.length < SHALLOW || jsonTextOf(parsed) !== null);
  return isSayable ? parsed : { raw_arguments: text };
}

/**
 * Arguments as JSON text; some servers send them as text already, and '' stands for none. Null for what is nested
 * too deeply to be written: JSON can be read deeper than the stack goes.
 */
export function argumentText(value: unknown): string | null {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : jsonTextOf(value);
}

function jsonTextOf(value: unknown): string | null {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** Arguments of a call in a request: an object, or its text. */
export function isArguments(value: unknown): boolean {
  return value === undefined || value === null || typeof value === 'string' || isObject(value);
}
