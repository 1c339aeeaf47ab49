import type { Codec, StreamFacts } from '../codecs/codec.ts';
import { noUsage, type Usage } from '../codecs/model.ts';

const HEAD_BYTES = 4096;
const TAIL_BYTES = 8192;
/** Bytes of text per token, where nothing better is known. */
const BYTES_PER_TOKEN = 4;

export interface Measured {
  usage: Usage | null;
  /** True when the upstream reported none and the numbers were derived from byte counts. */
  estimated: boolean;
}

/**
 * Remembers the first and the last bytes of a stream while it passes by: references, no copies, nothing
 * parsed. Usage and the terminal event stand at the ends, so that is all that metering needs.
 */
export class Tap {
  bytes = 0;
  readonly #head: Buffer[] = [];
  #headBytes = 0;
  #tail: Buffer[] = [];
  #tailBytes = 0;

  push(chunk: Buffer): void {
    this.bytes += chunk.length;
    if (this.#headBytes < HEAD_BYTES) {
      this.#head.push(chunk);
      this.#headBytes += chunk.length;
    }
    this.#tail.push(chunk);
    this.#tailBytes += chunk.length;
    let first = this.#tail[0];
    while (first !== undefined && this.#tailBytes - first.length >= TAIL_BYTES) {
      this.#tail.shift();
      this.#tailBytes -= first.length;
      first = this.#tail[0];
    }
  }

  head(): Buffer {
    return joined(this.#head);
  }

  tail(): Buffer {
    return joined(this.#tail);
  }

  /** True when the bytes so far end with a complete record, so that another frame may be put in. */
  endsFrame(): boolean {
    const last = this.tail();
    if (last.length === 0) return true;
    const end = last.toString('latin1', Math.max(0, last.length - 4));
    return end.endsWith('\n\n') || end.endsWith('\r\n\r\n') || end.endsWith('\r\r');
  }
}

/** One buffer of the pieces, without a copy when there is only one. */
export function joined(pieces: readonly Buffer[]): Buffer {
  const only = pieces[0];
  if (only === undefined) return Buffer.alloc(0);
  return pieces.length === 1 ? only : Buffer.concat(pieces);
}

/**
 * Usage of a finished or broken stream: what the upstream said, else an estimate from the bytes that passed.
 * @param input the estimate of the request's own tokens
 */
export function measureStream(codec: Codec, tap: Tap, facts: StreamFacts, input: number): Measured {
  const reported = facts.usage;
  if (reported !== null && facts.end !== 'cut') return { usage: reported, estimated: false };
  if (tap.bytes === 0 || codec.stream === null) return { usage: null, estimated: false };
  const head = tap.head();
  const textShare = codec.stream.textBytes(head) / head.length;
  const output = Math.ceil((textShare * tap.bytes) / BYTES_PER_TOKEN);
  if (reported === null) return { usage: { ...noUsage, input, output }, estimated: true };
  // A stream that was cut told its input at the start, but its output only would have at the end.
  return { usage: { ...reported, output: Math.max(output, reported.output) }, estimated: true };
}

/** Tokens that so many bytes of text are, about. */
export function textTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/** Usage of a complete non-streamed answer. */
export function measureBody(codec: Codec, body: Buffer, request: readonly Buffer[]): Measured {
  const usage = codec.readUsage(body);
  if (usage !== null) return { usage, estimated: false };
  const output = Math.ceil(codec.responseTextBytes(body) / BYTES_PER_TOKEN);
  return { usage: { ...noUsage, input: estimateInput(request), output }, estimated: true };
}

const QUOTE = 0x22;
const SPACE = 0x20;
const PROBE_BYTES = 4096;

/**
 * Tokens of a request by its size. Attachments in base64 are left out, because no provider prices them by the
 * byte; they are known by runs of thousands of bytes with neither a quote nor a space. Probed, not read.
 */
export function estimateInput(request: readonly Buffer[]): number {
  let bytes = 0;
  for (const piece of request) bytes += piece.length - attachmentBytes(piece);
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

function attachmentBytes(piece: Buffer): number {
  let bytes = 0;
  let position = 0;
  while (position + PROBE_BYTES < piece.length) {
    const quote = piece.indexOf(QUOTE, position);
    const end = quote === -1 ? piece.length : quote;
    if (end - position <= PROBE_BYTES) {
      position += PROBE_BYTES;
      continue;
    }
    const space = piece.indexOf(SPACE, position);
    if (space === -1 || space > end) {
      bytes += end - position;
      position = end;
    } else position = space + PROBE_BYTES;
  }
  return bytes;
}
