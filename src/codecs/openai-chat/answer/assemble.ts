import type { Frame } from '../../../lib/streams/sse.ts';
import { numberOf } from '../../json/lossless.ts';
import { growObject, overlay } from '../../json/merge.ts';
import { isObject, type JsonObject, listOf, objectOf } from '../../json/values.ts';
import { finishedChunks } from '../../openai-shared/choice-stream.ts';
import type { ChoiceChunk } from '../../openai-shared/wire.ts';
import { DONE, encodeFrames, ValueFrame } from '../../stream/frames.ts';
import { addToolCalls, type CallSlot, callsIn, finishedCalls } from '../tool-calls.ts';
import type { ChatChoice, ChatMessage } from '../wire.ts';
import { deltaOf } from './delta.ts';

/** A complete answer as a stream: per choice a role chunk, its content, its finish; then usage and `[DONE]`. */
export function framesOf(response: Record<string, unknown>): Frame[] {
  const { choices, usage, ...rest }: ChoiceChunk = response;
  const base = { ...rest, object: 'chat.completion.chunk' };
  const chunk = (choice: ChatChoice) => new ValueFrame('', { ...base, choices: [choice] });
  const frames: Frame[] = [];
  for (const [position, value] of listOf(choices).entries()) {
    const { message, finish_reason, logprobs, index = position, ...others } = objectOf<ChatChoice>(value);
    // Without a message it is no answer of this format.
    if (!isObject(message)) continue;
    const { opening, content } = splitMessage(message);
    frames.push(chunk({ index, delta: opening, logprobs: null, finish_reason: null }));
    frames.push(chunk({ index, delta: content, logprobs: logprobs ?? null, finish_reason: null }));
    const reason = finish_reason ?? null;
    frames.push(chunk({ ...others, index, delta: {}, logprobs: null, finish_reason: reason }));
  }
  if (isObject(usage)) frames.push(new ValueFrame('', { ...base, choices: [], usage }));
  frames.push({ event: '', data: DONE });
  return frames;
}

export function encodeFramesOf(response: Record<string, unknown>): string {
  return encodeFrames(framesOf(response));
}

/** The role and what is null go first, as the vendor does it; tool calls get the index that a delta must have. */
function splitMessage(message: ChatMessage): { opening: JsonObject; content: JsonObject } {
  const opening: JsonObject = { role: message.role ?? 'assistant' };
  const content: JsonObject = {};
  for (const [key, value] of Object.entries(message)) {
    if (key === 'role' || key === '__proto__') continue;
    if (value === null) opening[key] = null;
    else if (key === 'tool_calls') content[key] = callsIn(value).map((call, index) => ({ ...call, index }));
    else content[key] = value;
  }
  return { opening, content };
}

interface ChoiceSoFar {
  /** Fields beside the message. */
  choice: ChatChoice;
  message: ChatMessage;
  calls: CallSlot[];
}

const fixedKeys: ReadonlySet<string> = new Set(['role', 'id', 'type', 'name', 'format', 'signature']);
/** Fields of a chunk and of its choices that are put together in their own ways, or say nothing. */
const ownKeys: ReadonlySet<string> = new Set(['choices', 'obfuscation', 'usage']);
const ownChoiceKeys: ReadonlySet<string> = new Set(['index', 'delta', 'message', 'logprobs']);

/**
 * A complete stream as the answer it stands for. Null when the stream failed, was cut, or held no chunk: half an
 * answer must not look like a whole one.
 */
export function assemble(frames: Frame[]): Record<string, unknown> | null {
  const chunks = finishedChunks(frames);
  if (chunks === null) return null;
  const answer: ChoiceChunk = {};
  const choices = new Map<number, ChoiceSoFar>();
  for (const chunk of chunks) {
    const { choices: parts, usage } = chunk;
    overlay(answer, chunk, ownKeys);
    if (isObject(usage)) answer.usage = usage;
    for (const part of listOf(parts)) addChoice(choices, objectOf(part));
  }
  if (choices.size === 0) return null;
  const ordered = [...choices].sort(([a], [b]) => a - b);
  return {
    ...answer,
    object: 'chat.completion',
    choices: ordered.map(([index, soFar]) => finish(index, soFar)),
  };
}

function addChoice(choices: Map<number, ChoiceSoFar>, part: ChatChoice): void {
  const { index, logprobs } = part;
  const key = numberOf(index) ?? 0;
  const soFar = choices.get(key) ?? {
    choice: { logprobs: null, finish_reason: null },
    message: {},
    calls: [],
  };
  choices.set(key, soFar);
  overlay(soFar.choice, part, ownChoiceKeys);
  growObject(soFar.choice, { logprobs: logprobs ?? null }, fixedKeys);
  const { tool_calls, ...fields } = deltaOf(part);
  addToolCalls(soFar.calls, tool_calls);
  // The empty content beside a role announces a text that may never come; without one, content is null.
  if ('role' in fields && fields.content === '') delete fields.content;
  growObject(soFar.message, fields, fixedKeys);
}

function finish(index: number, { choice, message, calls }: ChoiceSoFar): JsonObject {
  const whole: ChatMessage = {
    ...message,
    role: message.role ?? 'assistant',
    content: message.content ?? null,
  };
  if (calls.length > 0) whole.tool_calls = finishedCalls(calls, choice.finish_reason === 'length');
  return { index, message: whole, ...choice };
}
