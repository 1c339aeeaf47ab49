import type { StreamCodec, StreamFacts } from '../../codecs/codec.ts';
import type { Codec } from '../../codecs/wire-codec.ts';
import { noUsage, type Usage } from '../../codecs/wire-format.ts';
import { joined } from '../json/joined.ts';
import type { JsonOutline } from '../json/outline.ts';

const HEAD_BYTES = 4096;
/** What must follow a record before it is let go of: room for the frames that come after the usage. */
const TAIL_BYTES = 4096;
/** Of a record that is larger only the last part is known. A piece costs more than its bytes. */
const MAX_TAIL_COST = 4 * 1024 * 1024;
const PIECE_COST = 128;
/** Bytes of text per token, where nothing better is known. */
const BYTES_PER_TOKEN = 4;

export interface MeasuredUsage {
  usage: Usage | null;
  /** True when the upstream reported none and the numbers were derived from byte counts. */
  estimated: boolean;
}

/**
 * Remembers the first and the last bytes of a stream while it passes by: references, no copies, nothing
 * parsed. Usage and the terminal event stand at the ends, so that is all that metering needs. The last bytes
 * begin with a record, however long that is up to a bound: the terminal event of responses repeats the whole
 * answer, and its usage may stand anywhere in it.
 */
export class Tap {
  bytes = 0;
  #head: Buffer[] = [];
  #headBytes = 0;
  #tail: Buffer[] = [];
  #tailBytes = 0;
  /** Where the record begins that the tail goes back to, and a later one for when enough has followed that. */
  #recordStart = 0;
  #nextStart = -1;
  readonly #framing: StreamCodec['framing'];

  constructor(framing: StreamCodec['framing']) {
    this.#framing = framing;
  }

  push(chunk: Buffer): void {
    if (this.#headBytes < HEAD_BYTES) {
      this.#head.push(chunk);
      this.#headBytes += chunk.length;
    }
    const start =
      this.#framing === 'lines' ? lineStart(chunk) : recordStart(chunk, this.#tail.at(-1)?.at(-1));
    const startsAt = start === -1 ? -1 : this.bytes + start;
    this.bytes += chunk.length;
    this.#tail.push(chunk);
    this.#tailBytes += chunk.length;
    const moves = this.#nextStart !== -1 && this.bytes - this.#nextStart >= TAIL_BYTES;
    if (moves) {
      this.#recordStart = this.#nextStart;
      this.#nextStart = -1;
    }
    if (this.#nextStart === -1 && startsAt > this.#recordStart) this.#nextStart = startsAt;
    if (moves || this.#tailBytes + this.#tail.length * PIECE_COST > MAX_TAIL_COST) this.#dropOldPieces();
  }

  head(): Buffer {
    const head = joined(this.#head);
    this.#head = [head];
    return head;
  }

  /** Joined once: usage, tier and ending of a stream are read there one after the other. */
  tail(): Buffer {
    const tail = joined(this.#tail);
    this.#tail = [tail];
    return tail;
  }

  /** True when the bytes so far end with a complete record, so that another frame may be put in. */
  endsFrame(): boolean {
    let end = '';
    for (let index = this.#tail.length - 1; index >= 0 && end.length < 4; index -= 1) {
      const piece = this.#tail[index];
      if (piece !== undefined) end = piece.toString('latin1', Math.max(0, piece.length - 4)) + end;
    }
    if (this.#framing === 'lines') return end === '' || end.endsWith('\n');
    return end === '' || end.endsWith('\n\n') || end.endsWith('\r\n\r\n') || end.endsWith('\r\r');
  }

  /** Lets go of the pieces before the kept record, and of half of what is kept when that is too much. */
  #dropOldPieces(): void {
    const cost = this.#tailBytes + this.#tail.length * PIECE_COST;
    const costLimit = cost > MAX_TAIL_COST ? MAX_TAIL_COST / 2 : cost;
    let start = this.bytes - this.#tailBytes;
    let remainingCost = cost;
    let dropped = 0;
    for (const { length } of this.#tail) {
      if (
        (start + length > this.#recordStart && remainingCost <= costLimit) ||
        dropped === this.#tail.length - 1
      )
        break;
      start += length;
      remainingCost -= length + PIECE_COST;
      dropped += 1;
    }
    if (dropped === 0) return;
    this.#tail.splice(0, dropped);
    this.#tailBytes = this.bytes - start;
  }
}

const LF = 0x0a;
const CR = 0x0d;

/**
 * Where the last record in `chunk` begins, known by the blank line before it; -1 when none begins there. A
 * blank line that is cut in two may be taken for one of its halves.
 * @param before the byte before the chunk
 */
function recordStart(chunk: Buffer, before: number | undefined): number {
  const { length } = chunk;
  if (chunk[length - 1] === LF && chunk[length - 2] === LF) return length;
  let at = chunk.lastIndexOf(LF);
  if (at === -1) {
    const blank = chunk.lastIndexOf('\r\r');
    return blank === -1 ? -1 : blank + 2;
  }
  while (at !== -1) {
    const previous = at === 0 ? before : chunk[at - 1];
    if (previous === LF || (previous === CR && (at < 2 || chunk[at - 2] === LF))) return at + 1;
    at = at === 0 ? -1 : chunk.lastIndexOf(LF, at - 1);
  }
  return -1;
}

/** Where the last line in `chunk` begins, known by the line end before it; -1 when none begins there. */
function lineStart(chunk: Buffer): number {
  const at = chunk.lastIndexOf(LF);
  return at === -1 ? -1 : at + 1;
}

/**
 * Usage of a finished or broken stream: what the upstream said, else an estimate from the bytes that passed.
 * @param input the estimate of the request's own tokens
 */
export function measureStream(codec: Codec, tap: Tap, facts: StreamFacts, input: number): MeasuredUsage {
  const reported = facts.usage;
  if (reported !== null && facts.end === 'complete') return { usage: reported, estimated: false };
  if (tap.bytes === 0 || codec.stream === null) return { usage: null, estimated: false };
  const output = textTokens(writtenBytes(codec.stream, tap));
  if (reported === null) return { usage: { ...noUsage, input, output }, estimated: true };
  return { usage: withWritten(reported, output), estimated: true };
}

/**
 * The usage of an answer that was not finished: its input was reported at the start, its output would have been at
 * the end.
 * @param written estimated tokens of all that came, reasoning included
 */
export function withWritten(reported: Usage, written: number): Usage {
  return { ...reported, output: Math.max(written - reported.reasoning, reported.output) };
}

/** Bytes of text in what has passed: counted where all of it is at hand, else by its share in both ends. */
function writtenBytes(stream: StreamCodec, tap: Tap): number {
  const [head, tail] = [tap.head(), tap.tail()];
  const between = tap.bytes - head.length - tail.length;
  if (between <= 0) return stream.textBytes(Buffer.concat([head, tail.subarray(-between)]));
  const text = stream.textBytes(head) + stream.textBytes(tail);
  return Math.ceil((text * tap.bytes) / (head.length + tail.length));
}

/** Tokens that so many bytes of text are, about. */
export function textTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/** Usage of a complete non-streamed answer. */
export function measureBody(codec: Codec, body: Buffer, request: readonly Buffer[]): MeasuredUsage {
  const usage = codec.readUsage(body);
  if (usage !== null) return { usage, estimated: false };
  const output = Math.ceil(codec.responseTextBytes(body) / BYTES_PER_TOKEN);
  return { usage: { ...noUsage, input: estimateInput(request), output }, estimated: true };
}

/**
 * Usage of a whole answer, or of the part of it that came, that is known by its outline.
 * @param input the estimate of the request's own tokens
 */
export function measureOutline(codec: Codec, outline: JsonOutline, input: number): MeasuredUsage {
  const whole = outline.whole();
  const usage = codec.readUsage(whole);
  if (usage !== null) return { usage, estimated: false };
  const output = textTokens(codec.responseTextBytes(whole) + outline.omittedTextBytes);
  return { usage: { ...noUsage, input, output }, estimated: true };
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
