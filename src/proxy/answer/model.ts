import type { StreamCodec } from '../../codecs/codec.ts';
import { QUOTE, stringEnd, valueStart } from '../../codecs/json/bytes.ts';
import type { JsonObject } from '../../codecs/json/values.ts';
import { closersAfter } from '../../codecs/usage/usage-bytes.ts';
import type { Codec } from '../../codecs/wire-codec.ts';
import { FieldScan, ofByteOrderMark } from '../json/field-scan.ts';

/** Where an answer says which model it is of, and what it is to say there. */
export interface AnswerModelInput {
  /** `whole`: one JSON document; else frames, one document each. */
  framing: StreamCodec['framing'] | 'whole';
  /** The fields that lead to the name in a document, the outermost first. */
  path: readonly string[];
  /** Whether only one document has it. */
  once: boolean;
  /** The model as the client named it. */
  model: string;
}

const LF = 0x0a;
const CR = 0x0d;
const BLANK_LINE = Buffer.from('\n\n');
const DATA_FIELD = Buffer.from('data:');
/** Beginnings of frames that are longer are not compared with. */
const MAX_OPENING = 1024;
/** For so few bytes a native call costs more than the comparison. */
const MOST_COMPARED_HERE = 64;

/** The end of a large body is looked at before its beginning: lists of numbers before the name take long to read. */
const LARGE_BYTES = 65_536;
const END_BYTES = 4096;

/** How a frame began that named the model, the name included. */
interface Opening {
  /** Of its own memory, for a stream may be long. */
  bytes: Uint8Array;
  /** Bytes of the name's literal, at the end. */
  literal: number;
  /** The name is what it is to be. */
  same: boolean;
}

/**
 * Puts the name that the client used in the place of the upstream's, in the bytes of an answer on their way to the
 * client. What came in goes out at once, however it is cut: the new name takes the place of the old one's first quote,
 * and the rest of the old one is left out. All other bytes stay as they are, and pieces without a name pass uncopied.
 *
 * Most frames begin as the one before, as far as the name: those are compared, and not read.
 */
export class AnswerModel {
  readonly #framing: AnswerModelInput['framing'];
  readonly #path: readonly string[];
  readonly #once: boolean;
  readonly #literal: Uint8Array;
  readonly #scan: FieldScan;
  /** What a frame has that leads to the name, where most frames do not have it. */
  readonly #rare: string | null;
  #done = false;
  /** The next byte is the first of a frame. */
  #fresh = true;
  #afterCr = false;
  /** What the line is: as long as that is not known, how much of `data:` was seen. */
  #line: 'field' | 'data' | 'other';
  #field = 0;
  #opening: Opening | null = null;
  /** Of the piece under way: where the frame begins, -1 when before; the next CR; the next rare field, -1 when not looked for. */
  #frameAt = -1;
  #cr = -1;
  #rareAt = -1;
  /** Starts and ends of names in the piece under way. */
  #cuts: number[] = [];
  /** The first of them began in the piece before, and was replaced there. */
  #startedInPreviousPiece = false;

  constructor({ framing, model, once, path }: AnswerModelInput) {
    this.#framing = framing;
    this.#path = path;
    this.#once = once;
    this.#literal = new Uint8Array(Buffer.from(JSON.stringify(model)));
    this.#scan = new FieldScan(path);
    this.#rare = path.length > 1 ? `"${path[0]}"` : null;
    this.#line = framing === 'sse' ? 'field' : 'data';
  }

  /** True once no more names are to come. */
  get done(): boolean {
    return this.#done;
  }

  /** The bytes for the client in the place of the next ones of the upstream. */
  push(bytes: Buffer): Buffer {
    if (this.#done) return bytes;
    this.#startedInPreviousPiece = false;
    this.#frameAt = -1;
    this.#cr = -1;
    this.#rareAt = -1;
    let index = 0;
    while (index < bytes.length && !this.#done) {
      if (this.#fresh) index = this.#begin(bytes, index);
      const end = this.#lineEnd(bytes, index);
      if (end > index) this.#read(bytes, index, end);
      if (end < bytes.length) this.#endLine(bytes[end]);
      index = end + 1;
    }
    if (this.#cuts.length === 0) return bytes;
    const cuts = this.#cuts;
    this.#cuts = [];
    return this.#renamed(bytes, cuts);
  }

  /** The same for an answer that is whole in these bytes. */
  whole(bytes: Buffer): Buffer {
    if (bytes.length > LARGE_BYTES && this.#path.length === 1) this.#findAtEnd(bytes, `"${this.#path[0]}"`);
    if (!this.#done) return this.push(bytes);
    return this.#cuts.length === 0 ? bytes : this.#renamed(bytes, this.#cuts);
  }

  /** Finds the name in one of the last fields. Those of the root have one bracket to be closed behind them. */
  #findAtEnd(bytes: Buffer, member: string): void {
    const at = bytes.subarray(-END_BYTES).lastIndexOf(member);
    if (at === -1) return;
    const start = valueStart(bytes, bytes.length - END_BYTES + at + member.length);
    const end = bytes[start] === QUOTE ? stringEnd(bytes, start) : -1;
    if (end !== -1 && closersAfter(bytes, end, 'body').depth === 1) this.#nameFound(bytes, start, end);
  }

  /** At the first byte of a frame: the index to read on from. */
  #begin(bytes: Buffer, index: number): number {
    this.#frameAt = index;
    const opening = this.#opening;
    if (opening !== null && beginsWith(bytes, index, opening.bytes)) {
      const end = index + opening.bytes.length;
      if (!opening.same) this.#cuts.push(end - opening.literal, end);
      this.#fresh = false;
      this.#line = 'other';
      this.#scan.settle();
      return end;
    }
    return this.#rare === null ? index : this.#skip(bytes, index, this.#rare);
  }

  /** Passes over the frames without a field that the name is in. */
  #skip(bytes: Buffer, index: number, member: string): number {
    if (this.#rareAt >= index) return index;
    const at = bytes.indexOf(member, index, 'latin1');
    this.#rareAt = at === -1 ? bytes.length : at;
    const blank = bytes.lastIndexOf(BLANK_LINE, this.#rareAt);
    return blank < index ? index : blank + BLANK_LINE.length;
  }

  /** The index of the next byte that ends a line; the end of the bytes when there is none. */
  #lineEnd(bytes: Buffer, index: number): number {
    if (this.#framing === 'whole') return bytes.length;
    if (bytes[index] === LF) return index;
    const lineFeed = bytes.indexOf(LF, index);
    const lf = lineFeed === -1 ? bytes.length : lineFeed;
    if (this.#framing === 'lines') return lf;
    if (this.#cr < index) {
      const cr = bytes.indexOf(CR, index);
      this.#cr = cr === -1 ? bytes.length : cr;
    }
    return Math.min(lf, this.#cr);
  }

  /** A part of a line. */
  #read(bytes: Buffer, from: number, to: number): void {
    this.#fresh = false;
    this.#afterCr = false;
    const scan = this.#scan;
    const start = this.#line === 'field' ? this.#readField(bytes, from, to) : from;
    if (this.#line !== 'data' || scan.settled) return;
    const insideName = scan.inside;
    scan.read(bytes, start, to);
    if (insideName) {
      this.#startedInPreviousPiece = true;
      this.#cuts.push(start, scan.end === -1 ? to : scan.end);
      if (scan.end !== -1) this.#done = this.#once;
    } else if (scan.end !== -1) this.#nameFound(bytes, scan.start, scan.end);
    else if (scan.start !== -1) this.#cuts.push(scan.start, to);
  }

  /** A name that stands whole in the piece. */
  #nameFound(bytes: Buffer, start: number, end: number): void {
    const literal = end - start;
    const same = literal === this.#literal.length && beginsWith(bytes, start, this.#literal);
    if (!same) this.#cuts.push(start, end);
    this.#done = this.#once;
    const at = this.#frameAt;
    if (this.#done || this.#rare !== null || at === -1 || end - at > MAX_OPENING) return;
    this.#opening = { bytes: new Uint8Array(bytes.subarray(at, end)), literal, same };
  }

  #readField(bytes: Buffer, from: number, to: number): number {
    for (let at = from; at < to; at += 1) {
      const byte = bytes[at];
      if (byte === DATA_FIELD[this.#field]) this.#field += 1;
      else if (this.#field > 0 || !ofByteOrderMark(byte)) {
        this.#line = 'other';
        return to;
      }
      if (this.#field === DATA_FIELD.length) {
        this.#line = 'data';
        return at + 1;
      }
    }
    return to;
  }

  #endLine(byte: number | undefined): void {
    const half = byte === LF && this.#afterCr;
    this.#afterCr = byte === CR;
    if (half) return;
    const ends = this.#framing === 'lines' || (this.#line === 'field' && this.#field === 0);
    this.#line = this.#framing === 'lines' ? 'data' : 'field';
    this.#field = 0;
    if (ends) {
      this.#scan.reset();
      this.#fresh = true;
    } else if (this.#scan.inString) this.#scan.settle();
  }

  #renamed(bytes: Buffer, cuts: readonly number[]): Buffer {
    const literal = this.#literal;
    const out = Buffer.allocUnsafe(bytes.length + (cuts.length / 2) * literal.length);
    let from = 0;
    let at = 0;
    for (let index = 0; index < cuts.length; index += 2) {
      const start = cuts[index] ?? 0;
      at += bytes.copy(out, at, from, start);
      if (index > 0 || !this.#startedInPreviousPiece) {
        out.set(literal, at);
        at += literal.length;
      }
      from = cuts[index + 1] ?? start;
    }
    at += bytes.copy(out, at, from);
    return out.subarray(0, at);
  }
}

function beginsWith(bytes: Buffer, at: number, expected: Uint8Array): boolean {
  const { length } = expected;
  if (bytes.length - at < length) return false;
  if (length > MOST_COMPARED_HERE) return bytes.compare(expected, 0, length, at, at + length) === 0;
  for (let index = 0; index < length; index += 1) if (bytes[at + index] !== expected[index]) return false;
  return true;
}

/** The names in a stream of the codec's format. */
export function modelInStream({ modelAt, ...stream }: StreamCodec, model: string): AnswerModel {
  return new AnswerModel({ framing: stream.framing, ...modelAt, model });
}

/** The name in a whole answer of the codec's format. */
export function modelInWhole({ answerModel }: Codec, model: string): AnswerModel | null {
  if (answerModel === null) return null;
  return new AnswerModel({ framing: 'whole', path: [answerModel], once: true, model });
}

/** A whole answer, read, that names `model`. */
export function namedAnswer({ answerModel }: Codec, answer: JsonObject, model: string): JsonObject {
  if (answerModel === null || typeof answer[answerModel] !== 'string') return answer;
  return { ...answer, [answerModel]: model };
}
