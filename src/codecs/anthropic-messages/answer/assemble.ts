import type { Frame } from '../../../lib/streams/sse.ts';
import { argumentsOf } from '../../adapt/call-arguments.ts';
import { numberOf } from '../../json/lossless.ts';
import { addTo, growObject, overlay, ownObject } from '../../json/merge.ts';
import { isObject, type JsonObject, listOf, objectOf, parseObject, textOf } from '../../json/values.ts';
import { encodeFrames, objectIn, ValueFrame } from '../../stream/frames.ts';
import type { BlockDelta, MessageBlock, MessagesAnswer, MessagesCounts, MessagesEvent } from '../wire.ts';
import { mergeUsage } from './usage.ts';

/** Blocks whose input the vendor streams as JSON text; SDKs collect it for these two only. */
const streamedInput: ReadonlySet<unknown> = new Set(['tool_use', 'server_tool_use']);

/** Fields of a message that are null in `message_start` and set by `message_delta` at the end. */
const endKeys = ['stop_reason', 'stop_sequence', 'stop_details'] as const;

/** A complete message as a stream. Blocks of a type that has no deltas are carried whole in their start. */
export function framesOf(response: MessagesAnswer): Frame[] {
  const { content, usage: counts, ...rest } = response;
  const usage = { input_tokens: 0, output_tokens: 0, ...objectOf(counts) };
  const ends: JsonObject = { stop_reason: null, stop_sequence: null };
  const delta = { ...ends };
  for (const key of endKeys) {
    if (!(key in rest)) continue;
    ends[key] = null;
    delta[key] = rest[key];
  }
  const message = { ...rest, content: [], ...ends, usage: { ...usage, output_tokens: 0 } };
  const frames = [eventFrame({ type: 'message_start', message })];
  for (const [index, block] of listOf(content).entries()) frames.push(...blockFrames(index, objectOf(block)));
  frames.push(eventFrame({ type: 'message_delta', delta, usage }), eventFrame({ type: 'message_stop' }));
  return frames;
}

export function encodeFramesOf(response: Record<string, unknown>): string {
  return encodeFrames(framesOf(response));
}

function eventFrame(event: MessagesEvent & { type: string }): Frame {
  return new ValueFrame(event.type, event);
}

function blockFrames(index: number, block: MessageBlock): Frame[] {
  const { opening, deltas } = takeApart(block);
  return [
    eventFrame({ type: 'content_block_start', index, content_block: opening }),
    ...deltas.map((delta) => eventFrame({ type: 'content_block_delta', index, delta })),
    eventFrame({ type: 'content_block_stop', index }),
  ];
}

function takeApart(block: MessageBlock): { opening: MessageBlock; deltas: BlockDelta[] } {
  if (block.type === 'text' && typeof block.text === 'string') return takeTextApart(block, block.text);
  if (block.type === 'thinking' && typeof block.thinking === 'string') {
    const signature = textOf(block.signature);
    const deltas: BlockDelta[] = [{ type: 'thinking_delta', thinking: block.thinking }];
    if (signature !== '') deltas.push({ type: 'signature_delta', signature });
    return { opening: { ...block, thinking: '', ...(signature === '' ? {} : { signature: '' }) }, deltas };
  }
  if (streamedInput.has(block.type) && isObject(block.input)) {
    const deltas = [{ type: 'input_json_delta', partial_json: JSON.stringify(block.input) }];
    return { opening: { ...block, input: {} }, deltas };
  }
  return { opening: block, deltas: [] };
}

function takeTextApart(block: MessageBlock, text: string): { opening: MessageBlock; deltas: BlockDelta[] } {
  const citations = listOf(block.citations);
  const opening = { ...block, text: '', ...(citations.length > 0 ? { citations: [] } : {}) };
  const deltas: BlockDelta[] = text === '' ? [] : [{ type: 'text_delta', text }];
  for (const citation of citations) deltas.push({ type: 'citations_delta', citation });
  return { opening, deltas };
}

interface BlockSoFar {
  block: MessageBlock;
  /** The input as JSON text, after its first delta. */
  input: string | null;
}

/** Reasons of an end that may be inside the last block. */
const cuts: ReadonlySet<unknown> = new Set(['max_tokens', 'model_context_window_exceeded', 'refusal']);

/** A complete stream as the message it stands for. Null when the stream failed or was cut. */
export function assemble(frames: Frame[]): Record<string, unknown> | null {
  let message: MessagesAnswer | null = null;
  let usage: MessagesCounts = {};
  let stopped = false;
  const blocks = new Map<number, BlockSoFar>();
  for (const frame of frames) {
    if (stopped) break;
    const event: MessagesEvent | null = objectIn(frame);
    if (frame.event === 'error' || event?.type === 'error') return null;
    if (event === null) continue;
    if (event.type === 'message_start') {
      message = { ...objectOf(event.message) };
      usage = objectOf(message.usage);
    } else if (event.type === 'message_delta') {
      message ??= {};
      overlay(message, objectOf(event.delta));
      usage = mergeUsage(usage, objectOf(event.usage));
    } else if (event.type === 'message_stop') stopped = true;
    else addBlockEvent(blocks, event);
  }
  if (message === null || !stopped) return null;
  const ordered = [...blocks].sort(([a], [b]) => a - b).map(([, soFar]) => soFar);
  const cutOff = cuts.has(message.stop_reason);
  const content = ordered.map((soFar, place) => finish(soFar, cutOff && place === ordered.length - 1));
  return { ...message, content, usage };
}

const fixedKeys: ReadonlySet<string> = new Set(['signature']);

function addBlockEvent(blocks: Map<number, BlockSoFar>, event: MessagesEvent): void {
  const index = numberOf(event.index) ?? blocks.size - 1;
  if (event.type === 'content_block_start') {
    blocks.set(index, { block: ownObject(objectOf(event.content_block)), input: null });
    return;
  }
  if (event.type !== 'content_block_delta') return;
  const { type, partial_json, citation, ...grows } = objectOf<BlockDelta>(event.delta);
  const soFar = blocks.get(index) ?? { block: { type: textOf(type).replace(/_delta$/, '') }, input: null };
  blocks.set(index, soFar);
  if (typeof partial_json === 'string') soFar.input = (soFar.input ?? '') + partial_json;
  if (citation !== undefined) addTo(soFar.block, 'citations', citation);
  growObject(soFar.block, grows, fixedKeys);
}

/** The whole block; half of an input, where the message was cut off in it, is left out, as the vendor does. */
function finish({ block, input }: BlockSoFar, cutOff: boolean): MessageBlock {
  if (input === null || input.trim() === '') return block;
  if (cutOff && parseObject(input) === null) return block;
  return { ...block, input: argumentsOf(input) };
}
