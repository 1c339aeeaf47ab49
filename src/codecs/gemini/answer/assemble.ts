import type { Frame } from '../../../lib/streams/sse.ts';
import { numberOf } from '../../json/lossless.ts';
import { addTo, overlay } from '../../json/merge.ts';
import { isObject, type JsonObject, listOf, objectOf, textOf } from '../../json/values.ts';
import { encodeFrames, ValueFrame } from '../../stream/frames.ts';
import type { Candidate, Content, ContentPart, FunctionCall, GeminiAnswer } from '../wire.ts';
import {
  blockReasonIn,
  chunksOf,
  contentName,
  finishReasonIn,
  isErrorFrame,
  partsIn,
  unwrapped,
} from './chunk.ts';
import { PartialArgs, willContinue } from './partial-args.ts';

/**
 * A complete answer as a stream: the one chunk that it is. One that does not say why it ended is whole all the same,
 * and clients wait for a reason.
 */
export function framesOf(response: GeminiAnswer): Frame[] {
  const chunk = unwrapped(response);
  const candidates = listOf(chunk.candidates).filter(isObject);
  if (candidates.length === 0 || candidates.some((candidate) => finishReasonIn(candidate) !== ''))
    return [new ValueFrame('', chunk)];
  const ended = candidates.map((candidate) => ({ ...candidate, finishReason: 'STOP' }));
  return [new ValueFrame('', { ...chunk, candidates: ended })];
}

export function encodeFramesOf(response: Record<string, unknown>): string {
  return encodeFrames(framesOf(response));
}

interface CandidateSoFar {
  /** Fields beside the content. */
  fields: Candidate;
  /** The log probabilities of the tokens so far; null while none came. */
  logprobs: JsonObject | null;
  /** The content without its parts; null while none came. */
  content: Content | null;
  parts: ContentPart[];
  /** The call that continues in the next part. */
  open: { call: FunctionCall; args: PartialArgs } | null;
}

/**
 * A complete stream as the answer it stands for: text of one kind in one part, and of everything that every chunk
 * repeats the last. Null when the stream failed or was cut.
 */
export function assemble(frames: Frame[]): Record<string, unknown> | null {
  const answer: GeminiAnswer = {};
  const candidates = new Map<number, CandidateSoFar>();
  let finished = false;
  for (const frame of frames) {
    const chunks = chunksOf(frame);
    if (isErrorFrame(frame, chunks)) {
      if (!finished) return null;
      continue;
    }
    for (const { candidates: chunkCandidates, ...fields } of chunks ?? []) {
      overlay(answer, fields);
      finished ||= blockReasonIn(fields) !== '';
      for (const candidate of listOf(chunkCandidates).filter(isObject)) {
        finished ||= finishReasonIn(candidate) !== '';
        addCandidate(candidates, candidate);
      }
    }
  }
  if (!finished) return null;
  const ordered = [...candidates].sort(([a], [b]) => a - b).map(([, soFar]) => soFar);
  if (ordered.some(({ open }) => open !== null)) return null;
  if (ordered.length === 0) return answer;
  return { candidates: ordered.map(finish), ...answer };
}

function addCandidate(candidates: Map<number, CandidateSoFar>, candidate: Candidate): void {
  const { content, logprobsResult, ...fields } = candidate;
  const index = numberOf(candidate.index) ?? 0;
  const soFar = candidates.get(index) ?? {
    fields: {},
    logprobs: null,
    content: null,
    parts: [],
    open: null,
  };
  candidates.set(index, soFar);
  overlay(soFar.fields, fields);
  if (isObject(logprobsResult)) {
    soFar.logprobs ??= {};
    addLogprobs(soFar.logprobs, logprobsResult);
  }
  if (isObject(content)) {
    const { parts: _, ...others }: Content = content;
    soFar.content ??= {};
    overlay(soFar.content, others);
  }
  for (const [place, part] of partsIn(candidate).entries()) addPart(soFar, part, place === 0);
}

/** Every chunk has the log probabilities of its own tokens. */
function addLogprobs(target: JsonObject, later: JsonObject): void {
  for (const [name, value] of Object.entries(later)) {
    if (name === '__proto__') continue;
    if (!Array.isArray(value)) {
      target[name] = value;
      continue;
    }
    if (!Array.isArray(target[name])) target[name] = [];
    for (const one of value) addTo(target, name, one);
  }
}

/** Adds a part; the first of a chunk may continue the last of the one before. */
function addPart(soFar: CandidateSoFar, part: ContentPart, first: boolean): void {
  if (contentName(part) === 'functionCall') {
    addCall(soFar, part, objectOf(part.functionCall));
    return;
  }
  const last = soFar.parts.at(-1);
  if (first && last !== undefined && isBareText(part)) {
    if (part.text === '') return;
    if (continues(last, part)) {
      soFar.parts[soFar.parts.length - 1] = { ...last, text: textOf(last.text) + textOf(part.text) };
      return;
    }
  }
  soFar.parts.push(part);
}

/** A part with text only. */
function isBareText(part: ContentPart): boolean {
  return (
    Object.keys(part).every((name) => name === 'text' || name === 'thought') && typeof part.text === 'string'
  );
}

/** Whether text belongs to the part before it. A signed thought has ended; the encrypted reasoning of a text comes before it. */
function continues(last: ContentPart, part: ContentPart): boolean {
  const { thoughtSignature, ...bare } = last;
  const thought = last.thought === true;
  if (!isBareText(bare) || thought !== (part.thought === true)) return false;
  return thoughtSignature === undefined || (!thought && last.text !== '');
}

function addCall(soFar: CandidateSoFar, part: ContentPart, call: FunctionCall): void {
  const { open } = soFar;
  if (open !== null && textOf(call.name) === '') {
    open.args.add(call);
    if (!willContinue(call)) close(soFar);
    return;
  }
  if (textOf(call.name) === '' && Object.keys(call).length === 0) return;
  close(soFar);
  if (!willContinue(call) && !Array.isArray(call.partialArgs)) {
    soFar.parts.push(part);
    return;
  }
  const { partialArgs: _, willContinue: __, ...whole } = call;
  soFar.parts.push({ ...part, functionCall: whole });
  soFar.open = { call: whole, args: new PartialArgs(call) };
  if (!willContinue(call)) close(soFar);
}

/** Gives a call whose last piece came its arguments. */
function close(soFar: CandidateSoFar): void {
  const { open } = soFar;
  if (open === null) return;
  open.call.args = open.args.args;
  soFar.open = open.args.broken ? open : null;
}

function finish({ content, logprobs, fields, parts }: CandidateSoFar): Candidate {
  const candidateFields = parts.length > 0 ? { parts } : {};
  return {
    ...(content === null ? {} : { content: { ...candidateFields, ...content } }),
    ...fields,
    ...(logprobs === null ? {} : { logprobsResult: logprobs }),
  };
}
