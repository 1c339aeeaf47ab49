import type { Frame } from '../../../lib/streams/sse.ts';
import { overlay } from '../../json/merge.ts';
import { isObject, type JsonObject, objectOf } from '../../json/values.ts';
import { objectIn, ValueFrame } from '../../stream/frames.ts';
import type { OllamaAnswer, OllamaMessage } from '../wire.ts';
import { isErrorLine } from './error.ts';
import { encodeLine } from './json-lines.ts';

const emptyMessage = { role: 'assistant', content: '' } as const;

/** A complete answer as a stream: a line with its whole message, then the one that ends it and counts. */
export function framesOf(response: OllamaAnswer): Frame[] {
  // Without a message it is no answer of this format, and must not look like one.
  if (isErrorLine(response) || !isObject(response.message)) return [new ValueFrame('', response)];
  const { model, created_at, logprobs, message, done = true, ...rest } = response;
  const base = { model, created_at };
  const first = { ...base, message, done: false, ...(logprobs ? { logprobs } : {}) };
  return [new ValueFrame('', first), new ValueFrame('', { ...base, message: emptyMessage, done, ...rest })];
}

export function encodeFramesOf(response: Record<string, unknown>): string {
  const lines = framesOf(response).map((frame) => encodeLine(objectOf(objectIn(frame))));
  return lines.join('');
}

/** A complete stream as the answer it stands for. Null when it failed or was cut. */
export function assemble(frames: Frame[]): Record<string, unknown> | null {
  const answer: OllamaAnswer = {};
  const message: OllamaMessage = { ...emptyMessage };
  const beside: JsonObject = {};
  for (const frame of frames) {
    const line: OllamaAnswer | null = objectIn(frame);
    if (line === null) continue;
    if (isErrorLine(line)) return null;
    const { logprobs, message: delta, ...rest } = line;
    overlay(answer, rest);
    grow(message, objectOf(delta));
    grow(beside, { logprobs });
    if (line.done === true) return whole(answer, message, beside);
  }
  return null;
}

/** Adds a piece of a message: texts and lists grow, of all else the last one counts. */
function grow(target: JsonObject, delta: JsonObject): void {
  for (const [key, value] of Object.entries(delta)) {
    const before = target[key];
    if (key === '__proto__' || value === null || value === undefined) continue;
    if (key === 'role') target[key] = value;
    else if (typeof before === 'string' && typeof value === 'string') target[key] = before + value;
    else if (Array.isArray(before) && Array.isArray(value)) for (const one of value) before.push(one);
    else target[key] = Array.isArray(value) ? [...value] : value;
  }
}

/** Fields in the order of the vendor's own answers. */
function whole(answer: OllamaAnswer, message: OllamaMessage, beside: JsonObject): OllamaAnswer {
  const { created_at, done, model, ...rest } = answer;
  const { content, role, ...others } = message;
  return { model, created_at, message: { role, content, ...others }, done, ...rest, ...beside };
}
