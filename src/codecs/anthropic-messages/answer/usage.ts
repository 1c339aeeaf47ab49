import { utf8Text } from '../../../lib/bytes.ts';
import { overlay } from '../../json/merge.ts';
import {
  byteLengthOf,
  countOf,
  isCount,
  isObject,
  type JsonObject,
  listOf,
  objectOf,
  parseObject,
} from '../../json/values.ts';
import { tierWord } from '../../model/tier.ts';
import { isEmptyUsage } from '../../usage/token-counts.ts';
import { firstUsage, lastUsage, type UsageMatch, type UsageSearch } from '../../usage/usage-bytes.ts';
import { addUsage, noUsage, type Usage } from '../../wire-format.ts';
import type {
  CacheLifetimes,
  Iteration,
  MessageBlock,
  MessagesAnswer,
  MessagesCounts,
  OutputDetails,
  ServerToolCounts,
} from '../wire.ts';

const hasCounts = (counts: MessagesCounts) => isCount(counts.input_tokens) || isCount(counts.output_tokens);
const inBody: UsageSearch = { kind: 'body', maxDepth: 1, accepts: hasCounts };
/** `message_delta` has it at the root, `message_start` in its message; tool input is deeper. */
const inStream: UsageSearch = { kind: 'stream', maxDepth: 2, accepts: hasCounts };

/** Usage of a complete message; null when it reports none. */
export function readUsage(body: Uint8Array): Usage | null {
  const usageObject = lastUsage(body, inBody);
  return usageObject === null ? null : messageUsage(usageObject.counts);
}

/**
 * Usage of a stream: `message_start` has the input side, `message_delta` is cumulative and may restate it. The
 * later value that is not null counts; nothing is added up.
 */
export function readStreamUsage(head: Uint8Array, tail: Uint8Array): Usage | null {
  const start = firstUsage(head, inStream);
  const last = lastUsage(tail, inStream) ?? lastUsage(head, inStream);
  return start === null && last === null ? null : messageUsage(mergeCounts(start, last));
}

/** The tier in the usage of a message. */
export function readTier(head: Uint8Array, tail: Uint8Array, kind: 'body' | 'stream'): string | null {
  if (kind === 'body') return tierIn(objectOf(lastUsage(tail, inBody)?.counts));
  const last = lastUsage(tail, inStream) ?? lastUsage(head, inStream);
  return tierIn(mergeCounts(firstUsage(head, inStream), last));
}

/** Fast mode (Anthropic API reference, `Usage.speed`) has a price of its own, and is named beside the tier. */
export function tierIn(usage: MessagesCounts): string | null {
  return usage.speed === 'fast' ? 'fast' : tierWord(usage.service_tier);
}

function mergeCounts(start: UsageMatch | null, last: UsageMatch | null): MessagesCounts {
  return mergeUsage(objectOf(start?.counts), objectOf(last?.counts));
}

/** A usage object with the later value of every field, unless that is null. */
export function mergeUsage(earlier: JsonObject, later: JsonObject): JsonObject {
  const merged = { ...earlier };
  overlay(merged, later);
  return merged;
}

/**
 * The usage object of a message (Anthropic API reference, `Usage`): input excludes both cache buckets, output
 * includes thinking, and compaction iterations are billed beside the totals. Null when it counts nothing.
 */
export function messageUsage(counts: MessagesCounts): Usage | null {
  const compactions = listOf(counts.iterations).filter(
    (iteration): iteration is Iteration => objectOf<Iteration>(iteration).type === 'compaction',
  );
  const usage = compactions.map(countsOf).reduce(addUsage, countsOf(counts));
  return isEmptyUsage(usage) ? null : usage;
}

function countsOf(counts: MessagesCounts): Usage {
  const lifetimes = objectOf<CacheLifetimes>(counts.cache_creation);
  const hour = countOf(lifetimes.ephemeral_1h_input_tokens);
  const minutes = countOf(lifetimes.ephemeral_5m_input_tokens);
  const written = countOf(counts.cache_creation_input_tokens, hour + minutes);
  const cacheWrite1h = Math.min(hour, written);
  const output = countOf(counts.output_tokens);
  const reasoning = Math.min(
    output,
    countOf(objectOf<OutputDetails>(counts.output_tokens_details).thinking_tokens),
  );
  return {
    ...noUsage,
    input: countOf(counts.input_tokens),
    cacheRead: countOf(counts.cache_read_input_tokens),
    cacheWrite5m: written - cacheWrite1h,
    cacheWrite1h,
    output: output - reasoning,
    reasoning,
    webSearches: countOf(objectOf<ServerToolCounts>(counts.server_tool_use).web_search_requests),
  };
}

/** UTF-8 bytes of what the model wrote in one block: text, thinking, tool names and input. */
export function writtenBytes(block: MessageBlock): number {
  if (block.type === 'text') return byteLengthOf(block.text);
  if (block.type === 'thinking') return byteLengthOf(block.thinking);
  return isObject(block.input) ? byteLengthOf(block.name) + byteLengthOf(block.input) : 0;
}

/** UTF-8 bytes of generated text in a complete message. */
export function responseTextBytes(body: Uint8Array): number {
  const message: MessagesAnswer | null = parseObject(utf8Text(body));
  return listOf(message?.content).reduce<number>((sum, block) => sum + writtenBytes(objectOf(block)), 0);
}
