import { utf8Text } from '../../lib/bytes.ts';
import { countOf, isCount, type JsonObject, parseObject } from '../json/values.ts';
import type { MediaCodec } from '../passthrough/media.ts';
import { lastUsage, type UsageSearch } from '../usage/usage-bytes.ts';
import { noUsage } from '../wire-format.ts';

const inStream: UsageSearch = {
  kind: 'stream',
  maxDepth: 1,
  accepts: (counts: JsonObject) => isCount(counts['input_tokens']) || isCount(counts['output_tokens']),
};

/**
 * Audio contains no usage, so the characters of the request are counted; with `stream_format: sse` the last event,
 * `speech.audio.done`, reports tokens.
 */
export const speech: MediaCodec = {
  bodies: ['json'],
  counted: [],
  usageOfRequest(body) {
    const text = parseObject(utf8Text(body))?.['input'];
    if (typeof text !== 'string') return null;
    return { usage: { ...noUsage, characters: characters(text) }, estimated: false };
  },
  usageOfAnswer({ kind, tail }) {
    const usageObject = kind === 'events' ? lastUsage(tail, inStream) : null;
    if (usageObject === null) return null;
    const input = countOf(usageObject.counts['input_tokens']);
    const audioOutput = countOf(usageObject.counts['output_tokens']);
    return { usage: { ...noUsage, input, audioOutput }, estimated: false };
  },
};

/** Unicode characters, of which some take two units of a string. */
function characters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
