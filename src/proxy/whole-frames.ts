import type { ReportedError, StreamCodec } from '../codecs/codec.ts';
import { joined } from './meter.ts';

/** What of a chunk may go to the caller. */
export interface Passed {
  bytes: Buffer;
  /** The error after it, which the caller is not shown. */
  error: ReportedError | null;
}

/** A stream of which so much has passed is remembered no longer. */
const MAX_BYTES = 4 * 1024 * 1024;
const LF = 0x0a;

/**
 * Lets the frames of a stream pass as they are, but whole, and up to an error among them: after half a frame nobody could
 * go on. Remembers what has passed.
 */
export class WholeFrames {
  readonly #codec: Pick<StreamCodec, 'classify' | 'readError' | 'split'>;
  #rest: Buffer = Buffer.alloc(0);
  #pieces: Buffer[] | null = [];
  #bytes = 0;

  constructor(codec: Pick<StreamCodec, 'classify' | 'readError' | 'split'>) {
    this.#codec = codec;
  }

  push(chunk: Buffer): Passed {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const { frames, rest } = this.#codec.split(bytes);
    this.#rest = rest;
    const failed = frames.findIndex((frame) => this.#codec.classify(frame) === 'error');
    const frame = frames[failed];
    const error = frame === undefined ? null : this.#codec.readError(frame);
    const end = frame === undefined ? bytes.length - rest.length : this.#startOf(bytes, failed);
    return { bytes: this.#remember(bytes.subarray(0, end)), error };
  }

  /** Bytes of a frame that was not completed. */
  rest(): Buffer {
    const rest = this.#rest;
    this.#rest = Buffer.alloc(0);
    return rest;
  }

  /** All frames that have passed; null when they were too many. */
  passed(): Buffer | null {
    return this.#pieces === null ? null : joined(this.#pieces);
  }

  #remember(bytes: Buffer): Buffer {
    if (this.#pieces === null || bytes.length === 0) return bytes;
    this.#bytes += bytes.length;
    if (this.#bytes > MAX_BYTES) this.#pieces = null;
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
