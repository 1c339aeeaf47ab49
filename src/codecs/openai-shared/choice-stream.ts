import type { GatewayError } from '../../lib/error.ts';
import type { Frame } from '../../lib/streams/sse.ts';
import type { FrameMeaning, ReportedError, StreamFacts } from '../codec.ts';
import { errorInAnswer } from '../failures/error-in-answer.ts';
import { isObject, type JsonObject, listOf, parseObject } from '../json/values.ts';
import { DONE, encodeFrame, framesIn, isDone, judgeEnd, objectIn, ValueFrame } from '../stream/frames.ts';
import { tierAtEnds } from '../usage/tier-bytes.ts';
import { hasPromptCounts, promptUsage } from '../usage/token-counts.ts';
import { lastUsage, type UsageSearch } from '../usage/usage-bytes.ts';
import type { Usage } from '../wire-format.ts';
import { openAiError, readVendorError } from './error.ts';
import type { ChoiceChunk, WireChoice } from './wire.ts';

/**
 * What the chat and the completions format share: bare `data` records with a list of choices, an optional
 * record with usage, and `[DONE]` (OpenAI API reference, "Chat streaming").
 */
export const DONE_FRAME = `data: ${DONE}\n\n`;

/** Usage stands at the root; Groq has it in `x_groq`, Moonshot in the choice. Tool input is deeper. */
const search: Omit<UsageSearch, 'kind'> = { maxDepth: 3, accepts: hasPromptCounts };
const inBody: UsageSearch = { ...search, kind: 'body' };
const inStream: UsageSearch = { ...search, kind: 'stream' };

/** Usage of a complete answer; null when it reports none. */
export function readChoiceUsage(body: Uint8Array): Usage | null {
  const usageObject = lastUsage(body, inBody);
  return usageObject === null ? null : promptUsage(usageObject.counts);
}

/** The tier of every chunk and of a whole answer, at its root. */
export function readChoiceTier(head: Uint8Array, tail: Uint8Array, kind: 'body' | 'stream'): string | null {
  return tierAtEnds(head, tail, { kind, maxDepth: 1 });
}

/** What a frame means; `carries` returns whether a choice that has not finished holds anything for the client. */
export function classifyChoices(frame: Frame, carries: (choice: JsonObject) => boolean): FrameMeaning {
  const data = frame.data.trim();
  if (data === DONE) return 'end';
  if (data === '') return 'preamble';
  const chunk: ChoiceChunk | null = parseObject(data);
  if (isErrorChunk(frame, chunk)) return 'error';
  if (chunk === null || !Array.isArray(chunk.choices)) return 'content';
  const choices = listOf(chunk.choices);
  if (choices.length === 0) return isObject(chunk.usage) ? 'content' : 'preamble';
  const semantic = choices.some((choice) => !isObject(choice) || hasFinished(choice) || carries(choice));
  return semantic ? 'content' : 'preamble';
}

export function readChoiceError(frame: Frame): ReportedError {
  const chunk: ChoiceChunk | null = parseObject(frame.data);
  if (chunk === null) return readVendorError(frame.data);
  return readVendorError(chunk.error ? chunk.error : chunk);
}

/** The parsed chunk of a frame, or null for `[DONE]`, for an error and for what is no chunk. */
function readChunk(frame: Frame): ChoiceChunk | null {
  const chunk = objectIn(frame);
  return chunk === null || isErrorChunk(frame, chunk) ? null : chunk;
}

/** Generated text cannot match: its quotes are escaped. */
const MAYBE_ERROR = /"(?:error|errors|base_resp|error_code|code|Error)"/;

function isErrorFrame(frame: Frame): boolean {
  const maybe = frame.event === 'error' || frame instanceof ValueFrame || MAYBE_ERROR.test(frame.data);
  return maybe && isErrorChunk(frame, objectIn(frame));
}

/** OpenAI's `{"error":…}`, vLLM's `{"object":"error",…}`, an SSE record named `error`, and what others send in place of a chunk. */
export function isErrorChunk(frame: Frame, chunk: ChoiceChunk | null): boolean {
  if (frame.event === 'error') return true;
  if (chunk === null) return false;
  if (chunk.error || chunk.object === 'error' || chunk.type === 'error') return true;
  return errorInAnswer(chunk) !== null;
}

function hasFinished(choice: WireChoice): boolean {
  return typeof choice.finish_reason === 'string' && choice.finish_reason !== '';
}

/**
 * The chunks of a finished stream, up to `[DONE]`; of what follows only a report of usage counts. Null when the
 * stream failed or was cut: it has neither `[DONE]` nor, from vendors that send none, a finish reason.
 */
export function finishedChunks(frames: readonly Frame[]): ChoiceChunk[] | null {
  const chunks: ChoiceChunk[] = [];
  let done = false;
  let lateUsage: JsonObject | null = null;
  for (const frame of frames) {
    if (!done && isDone(frame)) {
      done = true;
      continue;
    }
    const chunk: ChoiceChunk | null = objectIn(frame);
    const isError = isErrorChunk(frame, chunk);
    if (done) {
      if (!isError && isObject(chunk?.usage)) lateUsage = chunk.usage;
      continue;
    }
    if (isError) return null;
    if (chunk !== null && Array.isArray(chunk.choices)) chunks.push(chunk);
  }
  if (!done && !frames.some((frame) => FINISH_REASON.test(frame.data))) return null;
  return lateUsage === null ? chunks : [...chunks, { choices: [], usage: lateUsage }];
}

/** Generated text cannot match: its quotes are escaped. */
const FINISH_REASON = /"finish_reason"\s*:\s*"[^"]/;

/** An error inside a stream: a record with `error` and no `[DONE]`, so that the stream does not look finished. */
export function encodeChoiceError(error: GatewayError): string {
  return encodeFrame('', openAiError(error));
}

export function readChoiceStream(head: Uint8Array, tail: Uint8Array): StreamFacts {
  const usageObject = lastUsage(tail, inStream) ?? lastUsage(head, inStream);
  const usage = usageObject === null ? null : promptUsage(usageObject.counts);
  const end = judgeEnd(head, tail, judgeChoices);
  return { usage, end: end?.end ?? 'cut', error: end?.error ?? null };
}

/** The first terminal frame decides; what follows it is noise. */
function judgeChoices(frames: Frame[]): Pick<StreamFacts, 'end' | 'error'> | null {
  let finished = false;
  for (const frame of frames) {
    if (isDone(frame)) return { end: 'complete', error: null };
    if (isErrorFrame(frame)) return { end: 'error', error: readChoiceError(frame) };
    finished ||= FINISH_REASON.test(frame.data);
  }
  return finished ? { end: 'complete', error: null } : null;
}

/** Sums `bytesOf` over the choices of the complete frames in `bytes`. */
export function sumChoices(bytes: Uint8Array, bytesOf: (choice: JsonObject) => number): number {
  let sum = 0;
  for (const frame of framesIn(bytes)) {
    for (const choice of listOf(readChunk(frame)?.choices)) {
      if (isObject(choice)) sum += bytesOf(choice);
    }
  }
  return sum;
}
