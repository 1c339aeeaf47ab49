import { joinedBytes, utf8Bytes } from '../bytes.ts';
import type { Frame, FrameSplit } from './sse.ts';

/** Splits bytes into the frames that are complete in them. */
export type SplitFrames<F, B extends Uint8Array> = (bytes: B) => FrameSplit<B, F>;

const LF = 10;
const CR = 13;
/** Completes the last frame of a stream of lines, whatever of it has come. */
const END_OF_RECORD = utf8Bytes('\n\n');

/**
 * The bytes of a stream of frames, however they are cut: what belongs to a frame that is not complete waits for the rest of
 * it. Bytes are only copied where a frame comes in several pieces.
 */
export class FrameBuffer<B extends Uint8Array = Uint8Array, F = Frame> {
  readonly #split: SplitFrames<F, B>;
  readonly #completes: (bytes: B, length: number) => boolean;
  #pieces: B[] = [];
  #length = 0;
  #isReady = false;

  /**
   * @param completes whether a frame may be complete now that these bytes have come, `length` in all: else nothing is
   * split. Frames of lines are complete at a line end.
   */
  constructor(split: SplitFrames<F, B>, completes: (bytes: B, length: number) => boolean = hasLineEnd) {
    this.#split = split;
    this.#completes = completes;
  }

  /** Bytes that wait. */
  get length(): number {
    return this.#length;
  }

  /** Keeps bytes. True when a frame may be complete. */
  add(bytes: B): boolean {
    this.#pieces.push(bytes);
    this.#length += bytes.length;
    this.#isReady ||= this.#completes(bytes, this.#length);
    return this.#isReady;
  }

  /** The frames that are complete, each once. */
  read(): F[] {
    if (!this.#isReady) return [];
    const { frames, rest } = this.#split(joinedBytes(this.#pieces));
    this.#keep(rest);
    return frames;
  }

  /** The frames that these bytes complete. */
  push(bytes: B): F[] {
    this.add(bytes);
    return this.read();
  }

  /** The last frames of a stream of lines: upstreams do leave out the final line end. One that was cut is there too. */
  end(): F[] {
    const { frames } = this.#split(joinedBytes([this.take(), END_OF_RECORD as Uint8Array as B]));
    return frames;
  }

  /** All bytes that wait, which are kept no longer. */
  take(): B {
    const bytes = joinedBytes(this.#pieces);
    this.#keep(bytes.subarray(0, 0) as B);
    return bytes;
  }

  #keep(rest: B): void {
    this.#pieces = rest.length === 0 ? [] : [rest];
    this.#length = rest.length;
    this.#isReady = false;
  }
}

function hasLineEnd(bytes: Uint8Array): boolean {
  return bytes.includes(LF) || bytes.includes(CR);
}
