import { latin1Text } from '../../lib/bytes.ts';
import { countIn, countOf, isCount, type JsonObject, MAX_COUNT, objectOf } from '../json/values.ts';
import type { MediaCodec, MediaUsage } from '../passthrough/media.ts';
import { disjoint, isEmptyUsage } from '../usage/token-counts.ts';
import { lastUsage, type UsageSearch } from '../usage/usage-bytes.ts';
import { noUsage, type Usage } from '../wire-format.ts';

const hasCounts = (counts: JsonObject) =>
  isCount(counts['seconds']) || isCount(counts['prompt_audio_seconds']) || isCount(counts['input_tokens']);
const inBody: UsageSearch = { kind: 'body', maxDepth: 1, accepts: hasCounts };
const inStream: UsageSearch = { kind: 'stream', maxDepth: 1, accepts: hasCounts };

/** The bytes in which `verbose_json` has the duration: before the text. */
const DURATION_WITHIN = 512;
const DURATION = /"duration"\s*:\s*"?(\d+(?:\.\d+)?)/;

/**
 * Transcriptions. Models report the duration or tokens (OpenAI API reference, `Transcription`; Mistral's
 * `prompt_audio_seconds`); `verbose_json` has at least the duration. Plain text and subtitles have no usage.
 */
export const transcription: MediaCodec = {
  bodies: ['form'],
  counted: [],
  usageOfRequest: () => null,
  usageOfAnswer({ head, kind, tail }) {
    if (kind === 'other') return null;
    const usageObject = lastUsage(tail, kind === 'json' ? inBody : inStream);
    const usage = usageObject === null ? noUsage : usageOf(usageObject.counts);
    if (!isEmptyUsage(usage)) return { usage, estimated: false };
    return kind === 'json' ? byDuration(head) : null;
  },
};

function byDuration(head: Uint8Array): MediaUsage | null {
  const seconds = Number(DURATION.exec(latin1Text(head, 0, DURATION_WITHIN))?.[1] ?? 0);
  return seconds > 0
    ? { usage: { ...noUsage, audioSeconds: Math.min(seconds, MAX_COUNT) }, estimated: true }
    : null;
}

/** Where a duration is reported, it is billed; tokens beside it are of the same audio. */
function usageOf(counts: JsonObject): Usage {
  const seconds = countIn(counts['seconds']) ?? countIn(counts['prompt_audio_seconds']);
  if (seconds !== null) return { ...noUsage, audioSeconds: Math.min(seconds, MAX_COUNT) };
  return disjoint({
    prompt: countOf(counts['input_tokens']),
    cached: 0,
    written: 0,
    audioInput: countOf(objectOf(counts['input_token_details'])['audio_tokens']),
    completion: countOf(counts['output_tokens']),
    reasoning: 0,
    audioOutput: 0,
    total: null,
    webSearches: 0,
  });
}
