import type { ReportedError, StreamCodec } from '../../codecs/codec.ts';
import { FrameBuffer } from '../../lib/streams/frame-buffer.ts';
import type { FrameSplit } from '../../lib/streams/sse.ts';
import { joined } from '../json/joined.ts';

/** What of a chunk may go to the client. */
export interface PassedFrames {
  bytes: Buffer;
  /** The error after it, which the client is not shown. */
  error: ReportedError | null;
}

/** What is remembered of a stream, and held back of a frame, at most. */
const MAX_BYTES = 4 * 1024 * 1024;
const LF = 0x0a;
const nothing: PassedFrames = { bytes: Buffer.alloc(0), error: null };

/**
 * Lets the frames of a stream pass as they are, but whole, and up to an error among them: after half a frame the
 * client could not go on. Remembers what has passed.
 */
export class WholeFrames {
  readonly #codec: Pick<StreamCodec, 'classify' | 'readError' | 'split'>;
  readonly #frames = new FrameBuffer<Buffer, PassedFrames>((bytes) => this.#split(bytes));
  #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(codec: Pick<StreamCodec, 'classify' | 'readError' | 'split'>) {
    this.#codec = codec;
  }

  push(chunk: Buffer): PassedFrames {
    const [allFrames = nothing] = this.#frames.push(chunk);
    return allFrames;
  }

  /** All frames that are complete in these bytes, as one piece: what of them passes is remembered. */
  #split(bytes: Buffer): FrameSplit<Buffer, PassedFrames> {
    const { frames, rest } = this.#codec.split(bytes);
    const errorAt = frames.findIndex((frame) => this.#codec.classify(frame) === 'error');
    const frame = frames[errorAt];
    const error = frame === undefined ? null : this.#codec.readError(frame);
    const end = frame === undefined ? bytes.length - rest.length : this.#startOf(bytes, errorAt);
    return { frames: [{ bytes: this.#remember(bytes.subarray(0, end)), error }], rest };
  }

  /** Bytes of a frame that was not completed. */
  rest(): Buffer {
    return this.#frames.take();
  }

  /** All frames that have passed; null when they were too many. */
  allFrames(): Buffer | null {
    return this.tooLong ? null : joined(this.#pieces);
  }

  /** Whether so much has come that it is no longer remembered: it cannot be continued, so none of it is held back. */
  get tooLong(): boolean {
    return this.#bytes > MAX_BYTES || this.#frames.length > MAX_BYTES;
  }

  #remember(bytes: Buffer): Buffer {
    if (bytes.length === 0) return bytes;
    this.#bytes += bytes.length;
    if (this.tooLong) this.#pieces = [];
    else this.#pieces.push(bytes);
    return bytes;
  }

  /** Where the frame of this index begins. */
  #startOf(bytes: Buffer, index: number): number {
    let start = 0;
    for (let at = bytes.indexOf(LF) + 1; at > 0; at = bytes.indexOf(LF, at) + 1) {
      const { frames, rest } = this.#codec.split(bytes.subarray(0, at));
      if (frames.length > index) break;
      if (rest.length === 0) start = at;
    }
    return start;
  }
}
