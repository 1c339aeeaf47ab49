import type { Frame } from '../../../lib/streams/sse.ts';
import { numberOf, parseJson } from '../../json/lossless.ts';
import { isObject, type JsonObject, listOf, objectOf, textOf } from '../../json/values.ts';
import { ValueFrame } from '../../stream/frames.ts';
import type { Candidate, Content, ContentPart, GeminiAnswer, GoogleError, PromptFeedback } from '../wire.ts';

/**
 * The answers in the data of a frame, or in a body: one as a rule; several in the array that a stream without
 * `alt=sse` is. Google's Cloud Code wraps each in `response`. Null for what is no JSON of that kind.
 */
export function chunksIn(data: string): GeminiAnswer[] | null {
  try {
    const value = parseJson(data);
    if (isObject(value)) return [unwrapped(value)];
    return Array.isArray(value) ? value.filter(isObject).map(unwrapped) : null;
  } catch {
    return null;
  }
}

/** The answers in a frame. */
export function chunksOf(frame: Pick<Frame, 'data'>): GeminiAnswer[] | null {
  return frame instanceof ValueFrame ? [unwrapped(frame.value)] : chunksIn(frame.data);
}

/** The answer without Cloud Code's wrapper. */
export function unwrapped(chunk: GeminiAnswer): GeminiAnswer {
  return isObject(chunk.response) && !('candidates' in chunk) ? chunk.response : chunk;
}

/** The error in a chunk: Google's object, or a bare text; null for a chunk without. */
export function errorIn(chunk: GeminiAnswer): GoogleError | string | null {
  const { error } = chunk;
  if (isObject(error)) return error;
  return typeof error === 'string' && error !== '' ? error : null;
}

/** Whether a record is known for an error by its name, or by the chunk in it. */
export function isErrorFrame(frame: Frame, chunks: readonly GeminiAnswer[] | null): boolean {
  return frame.event === 'error' || (chunks ?? []).some((chunk) => errorIn(chunk) !== null);
}

/** The answer that is read: the first one. More than one is refused before (`candidateCount`). */
export function candidateIn(chunk: GeminiAnswer): Candidate | null {
  const first = listOf(chunk.candidates)
    .filter(isObject)
    .find(({ index }: Candidate) => (numberOf(index) ?? 0) === 0);
  return first ?? null;
}

/** The parts of a candidate. */
export function partsIn(candidate: Candidate): ContentPart[] {
  return listOf(objectOf<Content>(candidate.content).parts).filter(isObject);
}

/** Why a candidate ended; '' until then. */
export function finishReasonIn(candidate: Candidate): string {
  return textOf(candidate.finishReason);
}

/** Why the prompt was refused as a whole; '' when it was not. */
export function blockReasonIn(chunk: GeminiAnswer): string {
  const reason = textOf(objectOf<PromptFeedback>(chunk.promptFeedback).blockReason);
  return reason.endsWith('UNSPECIFIED') ? '' : reason;
}

/** Fields of a part that are no content by themselves. */
const besides: ReadonlySet<string> = new Set([
  'thought',
  'thoughtSignature',
  'videoMetadata',
  'partMetadata',
  'mediaResolution',
  'mediaProcessing',
  'speechMetadata',
]);

/** The field of a part that holds what it is (`text`, `functionCall`, `inlineData` …); null when it has none, as an empty text. */
export function contentName(part: ContentPart & JsonObject): string | null {
  const holds = (name: string) => !besides.has(name) && part[name] !== null && part[name] !== '';
  return Object.keys(part).find(holds) ?? null;
}
