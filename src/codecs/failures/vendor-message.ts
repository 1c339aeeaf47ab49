import { isObject, listOf, textOf } from '../json/values.ts';

/** The fields in which vendors put the sentence of an error, or what holds it. */
const holders = ['message', 'error', 'detail', 'msg', 'errors'] as const;
const MAX_DEPTH = 4;
/** A validator names every field that it refuses; the first ones are enough. */
const MAX_SENTENCES = 3;

/**
 * The message in an error of any vendor, in each of its forms: a string, `{"message"}`, `{"error":{"message"}}`,
 * `{"detail":[{"msg","loc"}]}` (FastAPI), or one of these inside `message` (Mistral). '' if there is none.
 */
export function vendorMessage(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value;
  if (depth > MAX_DEPTH) return '';
  if (Array.isArray(value))
    return value
      .slice(0, MAX_SENTENCES)
      .map((entry) => vendorMessage(entry, depth + 1))
      .filter((sentence) => sentence !== '')
      .join('; ');
  if (!isObject(value)) return '';
  for (const name of holders) {
    const sentence = vendorMessage(value[name], depth + 1);
    if (sentence !== '') return `${sentence}${placeIn(value['loc'])}`;
  }
  return '';
}

/** What of the request a validator speaks of. */
function placeIn(loc: unknown): string {
  const place = listOf(loc).map(String).join('.');
  return place === '' ? '' : ` (${place})`;
}

const aboutModel = /\bmodels?\b/i;
const word = /^[a-z][a-z0-9_.-]{0,63}$/;

/**
 * The error code that clients of OpenAI's formats branch on: the vendor's own if it is one, and `model_not_found` for a
 * model that any vendor does not have. Null if there is none.
 */
export function vendorCode(status: number, error: unknown, message: string): string | null {
  if (status === 404 && aboutModel.test(message)) return 'model_not_found';
  const code = isObject(error) ? textOf(error['code']) : '';
  return word.test(code) ? code : null;
}
