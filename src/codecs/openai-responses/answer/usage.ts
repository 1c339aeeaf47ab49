import { indexOfBytes, latin1Text, utf8Bytes, utf8Text } from '../../../lib/bytes.ts';
import {
  byteLengthOf,
  countIn,
  countOf,
  isCount,
  listOf,
  objectOf,
  parseObject,
  textOf,
  wholeCount,
} from '../../json/values.ts';
import { tierAtEnds } from '../../usage/tier-bytes.ts';
import { disjoint, isEmptyUsage } from '../../usage/token-counts.ts';
import { lastUsage, type UsageMatch, type UsageSearch } from '../../usage/usage-bytes.ts';
import type { Usage } from '../../wire-format.ts';
import type {
  InputDetails,
  ItemPart,
  OutputDetails,
  ResponsesAnswer,
  ResponsesCounts,
  ResponsesItem,
  ServerToolCounts,
} from '../wire.ts';

const hasCounts = (counts: ResponsesCounts) => isCount(counts.input_tokens) || isCount(counts.output_tokens);
const inBody: UsageSearch = { kind: 'body', maxDepth: 1, accepts: hasCounts };
/** Terminal events have it in their `response`; output items and tool schemas are deeper. */
const inStream: UsageSearch = { kind: 'stream', maxDepth: 2, accepts: hasCounts };

/** Usage of a complete response; null when it reports none. */
export function readUsage(body: Uint8Array): Usage | null {
  const usageObject = lastUsage(body, inBody);
  return usageObject === null ? null : responseUsage(usageObject.counts, countSearches(body));
}

/** The tier of a response: at its root, in events one deeper. The first event names the tier that was requested. */
export function readTier(head: Uint8Array, tail: Uint8Array, kind: 'body' | 'stream'): string | null {
  return tierAtEnds(head, tail, { kind, maxDepth: kind === 'body' ? 1 : 2 });
}

/** The usage object of a terminal event in `bytes`. */
export function findStreamUsage(bytes: Uint8Array): UsageMatch | null {
  return lastUsage(bytes, inStream);
}

const SEARCH_ITEM = utf8Bytes('"web_search_call"');
/** Room for the key `"type"`, its colon and white space, before the value. */
const KEY_ROOM = 32;

/** Web searches among the output items of one response. The format has no counter for them. */
export function countSearches(response: Uint8Array): number {
  let count = 0;
  let at = indexOfBytes(response, SEARCH_ITEM);
  while (at !== -1) {
    if (/"type"\s*:\s*$/.test(latin1Text(response, Math.max(0, at - KEY_ROOM), at))) count += 1;
    at = indexOfBytes(response, SEARCH_ITEM, at + SEARCH_ITEM.length);
  }
  return count;
}

/**
 * The usage object of a response (OpenAI API reference, `ResponseUsage`): input includes cache reads and writes,
 * output includes reasoning. Null when it counts nothing.
 */
export function responseUsage(counts: ResponsesCounts, searches: number): Usage | null {
  const input = objectOf<InputDetails>(counts.input_tokens_details);
  const output = objectOf<OutputDetails>(counts.output_tokens_details);
  const reasoning = countIn(output.reasoning_tokens);
  const total = countIn(counts.total_tokens);
  const usage = disjoint({
    prompt: countOf(counts.input_tokens),
    cached: countOf(input.cached_tokens),
    written: countOf(input.cache_write_tokens),
    audioInput: countOf(input.audio_tokens),
    completion: countOf(counts.output_tokens),
    reasoning: reasoning === null ? null : wholeCount(reasoning),
    audioOutput: countOf(output.audio_tokens),
    total: total === null ? null : wholeCount(total),
    webSearches: countOf(
      objectOf<ServerToolCounts>(counts.server_side_tool_usage_details).web_search_calls,
      searches,
    ),
  });
  return isEmptyUsage({ ...usage, webSearches: 0 }) ? null : usage;
}

/** UTF-8 bytes of what the model wrote in one output item: text, refusals, summaries, arguments, names. */
function writtenBytes(item: ResponsesItem): number {
  let sum =
    byteLengthOf(textOf(item.arguments)) + byteLengthOf(textOf(item.input)) + byteLengthOf(textOf(item.code));
  if (sum > 0) sum += byteLengthOf(textOf(item.name));
  for (const part of [...listOf(item.content), ...listOf(item.summary)].map(objectOf<ItemPart>)) {
    sum += byteLengthOf(textOf(part.text)) + byteLengthOf(textOf(part.refusal));
  }
  return sum;
}

export function outputBytes(response: ResponsesAnswer): number {
  return listOf(response.output).reduce<number>((sum, item) => sum + writtenBytes(objectOf(item)), 0);
}

/** UTF-8 bytes of generated text in a complete response. */
export function responseTextBytes(body: Uint8Array): number {
  return outputBytes(objectOf(parseObject(utf8Text(body))));
}
