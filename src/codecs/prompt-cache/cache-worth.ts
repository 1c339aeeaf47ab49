import { utf8Length } from '../../lib/bytes.ts';
import { isObject, type JsonObject, listOf } from '../json/values.ts';
import { leastCached } from './cache-minimum.ts';

/** A mark of what to keep, for the vendor's usual time. */
export const MARK: JsonObject = { type: 'ephemeral' };
/** Anthropic refuses a request with more. */
export const MAX_MARKS = 4;

/**
 * Whether a request of Anthropic's format or of chat is worth keeping: its conversation is likely to come again, for it has
 * tools or an earlier answer, and it is not too short. Keeping costs more than reading once.
 * @param shared the client says that other requests begin alike
 */
export function isWorthKeeping(request: JsonObject, shared: boolean): boolean {
  const { messages, tools } = request;
  const again =
    shared ||
    listOf(tools).length > 0 ||
    listOf(messages).some((message) => isObject(message) && message['role'] === 'assistant');
  return again && !isTooShort(request);
}

/** No text has more tokens than one for every two bytes; most have half as many. */
const LEAST_BYTES_PER_TOKEN = 2;

/** Bytes of a prompt below which the vendor of a model surely does not keep it. */
export function leastKept(model: string): number {
  return leastCached(model) * LEAST_BYTES_PER_TOKEN;
}

/** Whether the vendor would surely not keep the prompt. A mark would cost nothing then, and do nothing. */
function isTooShort({ messages, model, system, tools }: JsonObject): boolean {
  const enough = leastKept(typeof model === 'string' ? model : '');
  // The longest texts come first, for one of them is mostly enough.
  return bytesOf([system, messages, tools], enough) < enough;
}

/** UTF-8 bytes of the names and texts in a value, counted no further than `enough`. */
function bytesOf(value: unknown, enough: number): number {
  if (typeof value === 'string') return value.length < enough ? utf8Length(value) : value.length;
  if (typeof value !== 'object' || value === null) return 1;
  let bytes = 0;
  if (Array.isArray(value)) {
    for (const inner of value) {
      bytes += bytesOf(inner, enough - bytes);
      if (bytes >= enough) break;
    }
    return bytes;
  }
  const fields = value as Readonly<Record<string, unknown>>;
  for (const name in fields) {
    bytes += name.length + bytesOf(fields[name], enough - bytes);
    if (bytes >= enough) break;
  }
  return bytes;
}
