import { concatBytes, utf8Bytes } from '../../lib/bytes.ts';
import { type Frame, splitFrames } from '../../lib/streams/sse.ts';
import { type JsonObject, parseObject } from '../json/values.ts';

const END_OF_RECORD = utf8Bytes('\n\n');

/** The frame that ends a stream of the OpenAI chat and completions formats. */
export const DONE = '[DONE]';

/** One SSE record, ready for the wire. `event` is left out when it is ''. JSON text holds no line ends. */
export function encodeFrame(event: string, data: object | string): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return event === '' ? `data: ${text}\n\n` : `event: ${event}\ndata: ${text}\n\n`;
}

/** A record whose JSON is at hand as the value that it stands for; its text is made when someone asks for it. */
export class ValueFrame implements Frame {
  readonly event: string;
  readonly value: JsonObject;

  /** @param value must not be changed by any other code */
  constructor(event: string, value: JsonObject) {
    this.event = event;
    this.value = value;
  }

  get data(): string {
    return JSON.stringify(this.value);
  }
}

/** The frame that ends a stream of those formats. */
export function doneFrame(): Frame {
  return { event: '', data: DONE };
}

/** The JSON object that a frame carries; null for any other frame. */
export function objectIn(frame: Pick<Frame, 'data'>): JsonObject | null {
  if (frame instanceof ValueFrame) return frame.value;
  // What cannot be parsed costs a hundred times what this does.
  return frame.data === DONE ? null : parseObject(frame.data);
}

/** Whether a frame is the one that ends a stream of the OpenAI chat and completions formats. */
export function isDone(frame: Pick<Frame, 'data'>): boolean {
  return !(frame instanceof ValueFrame) && frame.data.trim() === DONE;
}

/** Frames, ready for the wire. */
export function encodeFrames(frames: readonly Frame[]): string {
  let text = '';
  for (const { data, event } of frames) text += encodeFrame(event, data);
  return text;
}

/**
 * The records in `bytes`, including a last one without its blank line, because upstreams omit the final line end. A
 * record that was cut is included too; its data is not JSON.
 */
export function framesIn(bytes: Uint8Array): Frame[] {
  const { frames, rest } = splitFrames(bytes);
  if (rest.length === 0) return frames;
  return frames.concat(splitFrames(concatBytes([rest, END_OF_RECORD])).frames);
}

/** Bytes of a tail that hold the last two frames of nearly every stream. */
const NEAR_END = 1_024;

/**
 * Looks for the end of a stream where it most likely is: the last bytes, then the whole tail, then the head (a
 * stream that failed at once). `judge` answers null when the frames decide nothing.
 */
export function judgeEnd<T>(
  head: Uint8Array,
  tail: Uint8Array,
  judge: (frames: Frame[]) => T | null,
): T | null {
  if (tail.length > NEAR_END) {
    const near = framesIn(tail.subarray(tail.length - NEAR_END));
    // A long error record may be before the last frame; if the tail has only that frame, the whole tail is searched.
    const verdict = near.length < 2 ? null : judge(near);
    if (verdict !== null) return verdict;
  }
  return judge(framesIn(tail)) ?? judge(framesIn(head));
}
