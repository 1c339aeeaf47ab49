import type { Frame } from '../../lib/sse.ts';
import { growObject, overlay } from '../merge.ts';
import { isObject, type JsonObject, objectOf, parseObject } from '../values.ts';
import { isErrorLine } from './error.ts';
import { encodeLine } from './json-lines.ts';

const emptyMessage = { role: 'assistant', content: '' } as const;

/** A complete answer as a stream: a line with its whole message, then the one that ends it and counts. */
export function encodeFramesOf(response: Record<string, unknown>): Buffer {
  if (isErrorLine(response)) return Buffer.from(encodeLine(response));
  const { model, created_at, logprobs, message, done = true, ...rest } = response;
  const base = { model, created_at };
  const first = { ...base, message: message ?? emptyMessage, done: false, ...(logprobs ? { logprobs } : {}) };
  return Buffer.from(encodeLine(first) + encodeLine({ ...base, message: emptyMessage, done, ...rest }));
}

const fixedKeys: ReadonlySet<string> = new Set(['role']);

/** A complete stream as the answer it stands for. Null when it failed or was cut. */
export function assemble(frames: Frame[]): Record<string, unknown> | null {
  const answer: JsonObject = {};
  const grown: JsonObject = { message: { ...emptyMessage } };
  for (const { data } of frames) {
    const line = parseObject(data);
    if (line === null) continue;
    if (isErrorLine(line)) return null;
    const { logprobs, message, ...rest } = line;
    overlay(answer, rest);
    if (isObject(message)) growObject(grown, { message }, fixedKeys);
    if (Array.isArray(logprobs)) growObject(grown, { logprobs }, fixedKeys);
    if (line['done'] === true) return whole(answer, grown);
  }
  return null;
}

/** Members in the order of the vendor's own answers. */
function whole(
  { created_at, done, model, ...rest }: JsonObject,
  { logprobs, message }: JsonObject,
): JsonObject {
  const { content, role, ...others } = objectOf(message);
  return {
    model,
    created_at,
    message: { role, content, ...others },
    done,
    ...rest,
    ...(logprobs === undefined ? {} : { logprobs }),
  };
}
