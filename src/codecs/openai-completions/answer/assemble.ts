import type { Frame } from '../../../lib/streams/sse.ts';
import { numberOf } from '../../json/lossless.ts';
import { growObject, overlay } from '../../json/merge.ts';
import { isObject, listOf, objectOf } from '../../json/values.ts';
import { finishedChunks } from '../../openai-shared/choice-stream.ts';
import type { ChoiceChunk } from '../../openai-shared/wire.ts';
import { DONE, encodeFrames, ValueFrame } from '../../stream/frames.ts';
import type { CompletionsChoice } from '../wire.ts';

/** A complete answer as a stream: per choice its text, then its finish; then usage and `[DONE]`. */
export function framesOf(response: Record<string, unknown>): Frame[] {
  const { choices, usage, ...base }: ChoiceChunk = response;
  const chunk = (choice: CompletionsChoice) => new ValueFrame('', { ...base, choices: [choice] });
  const frames: Frame[] = [];
  for (const [position, value] of listOf(choices).entries()) {
    const {
      text: written,
      index = position,
      logprobs = null,
      finish_reason = null,
      ...others
    } = objectOf<CompletionsChoice>(value);
    // Without a text it is no answer of this format.
    if (typeof written !== 'string') continue;
    frames.push(chunk({ text: written, index, logprobs, finish_reason: null }));
    frames.push(chunk({ ...others, text: '', index, logprobs: null, finish_reason }));
  }
  if (isObject(usage)) frames.push(new ValueFrame('', { ...base, choices: [], usage }));
  frames.push({ event: '', data: DONE });
  return frames;
}

export function encodeFramesOf(response: Record<string, unknown>): string {
  return encodeFrames(framesOf(response));
}

const noFixedKeys: ReadonlySet<string> = new Set();
/** Fields of a chunk and of its choices that are put together in their own ways. */
const ownKeys: ReadonlySet<string> = new Set(['choices', 'usage']);
const ownChoiceKeys: ReadonlySet<string> = new Set(['index', 'text', 'logprobs']);

/** A complete stream as the answer it stands for. Null when the stream failed, was cut, or held no chunk. */
export function assemble(frames: Frame[]): Record<string, unknown> | null {
  const chunks = finishedChunks(frames);
  if (chunks === null) return null;
  const answer: ChoiceChunk = {};
  const choices = new Map<number, CompletionsChoice>();
  for (const chunk of chunks) {
    const { choices: parts, usage } = chunk;
    overlay(answer, chunk, ownKeys);
    if (isObject(usage)) answer.usage = usage;
    for (const part of listOf(parts)) addChoice(choices, objectOf(part));
  }
  if (choices.size === 0) return null;
  const ordered = [...choices].sort(([a], [b]) => a - b);
  return { ...answer, choices: ordered.map(([index, choice]) => ({ ...choice, index })) };
}

function addChoice(choices: Map<number, CompletionsChoice>, part: CompletionsChoice): void {
  const { index, text, logprobs } = part;
  const key = numberOf(index) ?? 0;
  const choice = choices.get(key) ?? { text: '', logprobs: null };
  choices.set(key, choice);
  overlay(choice, part, ownChoiceKeys);
  growObject(choice, { text: text ?? '', logprobs: logprobs ?? null }, noFixedKeys);
}
