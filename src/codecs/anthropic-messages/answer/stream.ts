import type { Frame } from '../../../lib/streams/sse.ts';
import type { FrameMeaning, StreamCodec, StreamFacts } from '../../codec.ts';
import { byteLengthOf, objectOf, parseObject, textOf } from '../../json/values.ts';
import { framesIn, judgeEnd } from '../../stream/frames.ts';
import type { BlockDelta, MessageBlock, MessagesEvent } from '../wire.ts';
import { encodeFramesOf } from './assemble.ts';
import { isErrorEvent, readEventError } from './error.ts';
import { framing } from './framing.ts';
import { readStreamUsage, writtenBytes } from './usage.ts';

/** Anthropic messages, streamed. */
export const stream: StreamCodec = {
  ...framing,
  classify,
  readStream(head, tail) {
    const end = judgeEnd(head, tail, judge);
    return { usage: readStreamUsage(head, tail), end: end?.end ?? 'cut', error: end?.error ?? null };
  },
  textBytes,
  keepAlive: 'event: ping\ndata: {"type": "ping"}\n\n',
  modelAt: { path: ['message', 'model'], once: true },
  encodeFramesOf,
};

function classify(frame: Frame): FrameMeaning {
  if (frame.data.trim() === '') return 'preamble';
  const event: MessagesEvent | null = parseObject(frame.data);
  if (frame.event === 'error') return 'error';
  if (event === null) return 'content';
  if (isErrorEvent(event)) return 'error';
  switch (event.type) {
    case 'message_start':
    case 'ping':
      return 'preamble';
    case 'content_block_start':
      return isEmptyBlock(objectOf(event.content_block)) ? 'preamble' : 'content';
    case 'message_stop':
      return 'end';
    default:
      return 'content';
  }
}

/** A text or thinking block that only announces what its deltas will bring. */
function isEmptyBlock(block: MessageBlock): boolean {
  if (block.type === 'text') return textOf(block.text) === '';
  return block.type === 'thinking' && textOf(block.thinking) === '' && textOf(block.signature) === '';
}

/** The first terminal event decides; what follows it is noise. */
function judge(frames: Frame[]): Pick<StreamFacts, 'end' | 'error'> | null {
  for (const frame of frames) {
    // Generated text cannot contain these words in unescaped quotes, so that most frames need no parsing.
    if (frame.event !== 'error' && !/"(?:message_stop|error|base_resp|error_code|code)"/.test(frame.data))
      continue;
    const meaning = classify(frame);
    if (meaning === 'end') return { end: 'complete', error: null };
    if (meaning === 'error')
      return { end: 'error', error: readEventError(parseObject(frame.data), frame.data) };
  }
  return null;
}

function textBytes(bytes: Uint8Array): number {
  let sum = 0;
  for (const frame of framesIn(bytes)) {
    const event = objectOf<MessagesEvent>(parseObject(frame.data));
    if (event.type === 'content_block_start') sum += startBytes(objectOf(event.content_block));
    if (event.type !== 'content_block_delta') continue;
    const { text, thinking, partial_json } = objectOf<BlockDelta>(event.delta);
    sum += byteLengthOf(text) + byteLengthOf(thinking) + byteLengthOf(partial_json);
  }
  return sum;
}

/** A block may come whole in its start; an empty `input` there only announces the deltas. */
function startBytes(block: MessageBlock): number {
  const input = objectOf(block.input);
  return Object.keys(input).length === 0
    ? writtenBytes({ ...block, input: null }) + byteLengthOf(block.name)
    : writtenBytes(block);
}
