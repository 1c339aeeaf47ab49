import { extractEncryptedReasoning } from '../codecs/encrypted-reasoning/embed.ts';
import { isObject, listOf, textOf } from '../codecs/json/values.ts';
import { summaryIn, summaryMessage } from '../codecs/openai-responses/request/compaction.ts';
import { GatewayError } from '../lib/error.ts';
import { isCompaction, itemOf, itemsAfter, referenceOf, responseOf } from './continuation.ts';
import type { Lookup, ResponseMemory, SizedResponse } from './stored.ts';

/** Whose responses may be seen. */
export interface ResponseReader {
  memory: Pick<ResponseMemory, 'get'>;
  keyId: string;
}

/**
 * A response and those that it continues, oldest first, as far back as the last compaction. Null when the gateway
 * has not stored it.
 * @param maxLength of all of them together, in characters
 * @throws GatewayError `previous_response_not_found` when an earlier one is gone, `request_too_large`
 */
export async function chainOf(
  reader: ResponseReader,
  id: string,
  maxLength: number,
): Promise<SizedResponse[] | null> {
  const { chain, length, missing, sealed } = await walk(reader, id, maxLength);
  if (missing !== null && sealed)
    throw previousNotFound(id, `${missing === id ? 'it' : `"${missing}", which it continues,`} ${OTHER_KEY}`);
  if (missing === id) return null;
  if (missing !== null)
    throw previousNotFound(id, `it continues "${missing}", which was deleted or has expired`);
  if (length <= maxLength) return chain;
  throw new GatewayError(
    'request_too_large',
    `The conversation that "${id}" stands for is larger than ${maxLength} characters: compact it, or send only what is still needed`,
    { param: 'previous_response_id' },
  );
}

/** What was shown before a response, as far as it is still there. */
export async function earlierItems(reader: ResponseReader, previousId: string | null): Promise<unknown[]> {
  if (previousId === null) return [];
  return itemsOf((await walk(reader, previousId, MAX_LISTED)).chain);
}

/** Why a response that is there cannot be shown. */
export const OTHER_KEY = 'was sealed with another STORAGE_ENCRYPTION_KEY than the one in force';

/** Characters that are looked at for one list of items. */
const MAX_LISTED = 64 * 1024 ** 2;

interface Walk {
  /** Oldest first. */
  chain: SizedResponse[];
  length: number;
  /** The id that was not found; null where the chain has its beginning. */
  missing: string | null;
  /** It is there, encrypted with another key. */
  sealed: boolean;
}

async function walk({ keyId, memory }: ResponseReader, id: string, maxLength: number): Promise<Walk> {
  const chain: SizedResponse[] = [];
  let length = 0;
  let missing: string | null = null;
  let sealed = false;
  for (let next: string | null = id; next !== null && length <= maxLength; ) {
    const stored: Lookup = await memory.get(next, keyId);
    if (stored === null || stored === 'unreadable') {
      missing = next;
      sealed = stored === 'unreadable';
      break;
    }
    chain.push(stored);
    length += stored.length;
    next = listOf(stored.response['output']).some(isCompaction) ? null : stored.previousId;
  }
  return { chain: chain.reverse(), length, missing, sealed };
}

/** OpenAI's own answer to an unknown id, with its code. */
export function previousNotFound(id: string, why: string): GatewayError {
  return new GatewayError(
    'previous_response_not_found',
    `Previous response with id '${id.slice(0, 200)}' not found: ${why}. Send the whole input instead`,
    { param: 'previous_response_id' },
  );
}

/** Everything that a model was shown and said by the end of a chain, which begins with the last compaction if there is one. */
export function itemsOf(chain: readonly SizedResponse[]): unknown[] {
  return chain.flatMap(({ input, response }) => itemsAfter({ input, output: listOf(response['output']) }));
}

/** Items with references resolved where the gateway has the item; others stay as they are. */
export async function resolved(
  items: readonly unknown[],
  chain: readonly SizedResponse[],
  reader: ResponseReader,
): Promise<unknown[]> {
  const result: unknown[] = [];
  for (const item of items) {
    const id = referenceOf(item);
    result.push((id === null ? null : await find(id, chain, reader)) ?? item);
  }
  return result;
}

async function find(id: string, chain: readonly SizedResponse[], { keyId, memory }: ResponseReader) {
  const within = (stored: Lookup) =>
    stored === null || stored === 'unreadable'
      ? null
      : itemOf({ input: stored.input, output: listOf(stored.response['output']) }, id);
  for (const stored of chain) {
    const item = within(stored);
    if (item !== null) return item;
  }
  const responseId = responseOf(id);
  return responseId === null ? null : within(await memory.get(responseId, keyId));
}

/** An item with its summary in words where it is a compaction of the gateway's own, which no provider could read. */
export function readable(item: unknown): unknown {
  const summary = isObject(item) ? summaryIn(item) : null;
  return summary === null ? item : summaryMessage(summary);
}

/**
 * An item of another provider's answer, for one of this format that keeps its own: ids of that provider are left
 * out, and so is reasoning that it could not open.
 */
export function portable(item: unknown): unknown[] {
  if (!isObject(item)) return [item];
  const { id: _, status: __, ...content } = item;
  if (item['type'] !== 'reasoning') return [content];
  return textOf(item['encrypted_content']) === '' ? [] : readableItem(content);
}

/** An item for a provider of this format that looks nothing up: as it is, unless it is encrypted for another format. */
export function readableItem(item: unknown): unknown[] {
  const sealed = isObject(item) ? textOf(item['encrypted_content']) : '';
  return sealed !== '' && extractEncryptedReasoning(sealed) !== null ? [] : [item];
}
