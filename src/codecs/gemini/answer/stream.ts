import type { Frame } from '../../../lib/streams/sse.ts';
import type { FrameMeaning, StreamCodec, StreamFacts } from '../../codec.ts';
import { QUOTE, stringEnd, valueStart } from '../../json/bytes.ts';
import { fieldNeedle, lastIndexOfNeedle } from '../../json/needle.ts';
import { isObject, listOf } from '../../json/values.ts';
import { framesIn, judgeEnd } from '../../stream/frames.ts';
import { closersAfter } from '../../usage/usage-bytes.ts';
import type { ContentPart, GeminiAnswer } from '../wire.ts';
import { encodeFramesOf } from './assemble.ts';
import { blockReasonIn, chunksIn, contentName, finishReasonIn, isErrorFrame, partsIn } from './chunk.ts';
import { readError } from './error.ts';
import { framing } from './framing.ts';
import { readStreamUsage, writtenBytes } from './usage.ts';

/** `streamGenerateContent` with `alt=sse`: bare `data` records, and no mark of the end but a reason in the last one. */
export const stream: StreamCodec = {
  ...framing,
  classify,
  readStream(head, tail) {
    const end = judgeEnd(head, tail, judge) ?? { end: endsInside(tail) ? 'complete' : 'cut', error: null };
    return { usage: readStreamUsage(head, tail), ...end };
  },
  textBytes: (bytes) =>
    framesIn(bytes)
      .flatMap(({ data }) => chunksIn(data) ?? [])
      .reduce((sum, chunk) => sum + writtenBytes(chunk), 0),
  // Gemini CLI takes a comment for a broken record (clients' research, 2).
  keepAlive: null,
  modelAt: { path: ['modelVersion'], once: false },
  encodeFramesOf,
};

function classify(frame: Frame): FrameMeaning {
  if (frame.data.trim() === '') return 'preamble';
  const chunks = chunksIn(frame.data);
  if (isErrorFrame(frame, chunks)) return 'error';
  if (chunks === null) return 'content';
  const meanings = chunks.map(meaningOf);
  return (['end', 'content'] as const).find((meaning) => meanings.includes(meaning)) ?? 'preamble';
}

function meaningOf(chunk: GeminiAnswer): FrameMeaning {
  const { candidates } = chunk;
  if (blockReasonIn(chunk) !== '') return 'end';
  if (!Array.isArray(candidates)) return isReport(chunk) ? 'preamble' : 'content';
  const candidateList = listOf(candidates).filter(isObject);
  if (candidateList.some((candidate) => finishReasonIn(candidate) !== '')) return 'end';
  return candidateList.some((candidate) => partsIn(candidate).some(carries)) ? 'content' : 'preamble';
}

/** A chunk that only reports. */
function isReport(chunk: GeminiAnswer): boolean {
  return 'usageMetadata' in chunk || 'promptFeedback' in chunk || 'responseId' in chunk;
}

function carries(part: ContentPart): boolean {
  return contentName(part) !== null || part.thoughtSignature !== undefined;
}

/** Generated text cannot match: its quotes are escaped. */
const DECIDES = /"(?:finishReason|blockReason|error)"/;

/** The first terminal chunk decides; what follows it is noise. */
function judge(frames: Frame[]): Pick<StreamFacts, 'end' | 'error'> | null {
  for (const frame of frames) {
    if (frame.event !== 'error' && !DECIDES.test(frame.data)) continue;
    const meaning = classify(frame);
    if (meaning === 'end') return { end: 'complete', error: null };
    if (meaning === 'error') return { end: 'error', error: readError(frame) };
  }
  return null;
}

const FINISH_REASON = fieldNeedle('finishReason');
/** Containers around a candidate's reason, in an array and Cloud Code's wrapper at most; the arguments of a call are deeper. */
export const CANDIDATE_DEPTH = 5;

/** Whether the record in which `tail` begins has a finish reason: the last one, with its sources, may be long. */
function endsInside(tail: Uint8Array): boolean {
  const at = lastIndexOfNeedle(tail, FINISH_REASON);
  if (at === -1) return false;
  const value = valueStart(tail, at + FINISH_REASON.bytes.length);
  const end = tail[value] === QUOTE ? stringEnd(tail, value) : -1;
  if (end === -1 || end === value + 2) return false;
  const { closed, depth } = closersAfter(tail, end, 'stream');
  return closed && depth <= CANDIDATE_DEPTH;
}
