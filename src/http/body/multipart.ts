import { GatewayError } from '../../lib/error.ts';
import { type FormPart, partOf } from './multipart-head.ts';

/** What a form's bytes are, in their order. All `bytes` together are the body as it was sent. */
export type FormPiece =
  /** Delimiters and the heads of parts. */
  | { kind: 'frame'; bytes: Buffer }
  /** The bytes that follow are this part's, up to the next frame. */
  | { kind: 'part'; part: FormPart }
  | { kind: 'data'; bytes: Buffer };

/** The head of one part, at most. Browsers and SDKs write about 150 bytes. */
const MAX_HEAD_BYTES = 16_384;
const MAX_PARTS = 1_000;
const CRLF = Buffer.from('\r\n');
const END_OF_HEAD = Buffer.from('\r\n\r\n');
const LF = 0x0a;
const CR = 0x0d;
const DASH = 0x2d;

type Place = 'start' | 'delimiter' | 'head' | 'data' | 'end';

/**
 * Reads `multipart/form-data` (RFC 7578, RFC 2046 5.1) while it passes, holding no more than one head or delimiter.
 *
 * It is stricter than most parsers: what two of them might read differently (a boundary behind a bare line feed, a
 * preamble, bytes after the end, folded headers) is refused, so that the upstream cannot see another field than the
 * one that was checked here.
 */
export class FormScanner {
  readonly #mark: Buffer;
  #place: Place = 'start';
  #parts = 0;
  /** Bytes that are not classified yet. */
  #rest: Buffer = Buffer.alloc(0);
  /** True while nothing of the current part's data has been given out. */
  #atDataStart = false;
  #pieces: FormPiece[] = [];

  constructor(boundary: string) {
    this.#mark = Buffer.from(`--${boundary}`, 'latin1');
  }

  /** @throws GatewayError `invalid_request` for a body that is no form, or one that parsers would read differently */
  push(chunk: Buffer): FormPiece[] {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    while (this.#step());
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces;
  }

  /** @throws GatewayError `invalid_request` when the form is not complete */
  end(): void {
    if (this.#place !== 'end') throw notForm('it ends before its last boundary');
  }

  /** Takes what it can from the rest; false when it needs more bytes. */
  #step(): boolean {
    switch (this.#place) {
      case 'start':
        return this.#start();
      case 'delimiter':
        return this.#delimiter();
      case 'head':
        return this.#head();
      case 'data':
        return this.#data();
      case 'end':
        return this.#end();
    }
  }

  #give(kind: 'frame' | 'data', length: number): void {
    if (length > 0) this.#pieces.push({ kind, bytes: this.#rest.subarray(0, length) });
    this.#rest = this.#rest.subarray(length);
  }

  #start(): boolean {
    const rest = this.#rest;
    const opening = rest[0] === CR ? Buffer.concat([CRLF, this.#mark]) : this.#mark;
    const compared = Math.min(rest.length, opening.length);
    if (rest.compare(opening, 0, compared, 0, compared) !== 0)
      throw notForm('it does not begin with the boundary that content-type names');
    if (compared < opening.length) return false;
    this.#give('frame', compared);
    this.#place = 'delimiter';
    return true;
  }

  #delimiter(): boolean {
    const rest = this.#rest;
    let index = 0;
    while (rest[index] === 0x20 || rest[index] === 0x09) index += 1;
    if (index > MAX_HEAD_BYTES) throw notForm('a boundary is followed by too much white space');
    if (rest.length < index + 2) return false;
    const next = rest.toString('latin1', index, index + 2);
    if (next === '--' && index === 0) {
      this.#give('frame', 2);
      this.#place = 'end';
      return true;
    }
    if (next !== '\r\n') throw notForm('a boundary is followed by something else than a line end');
    this.#parts += 1;
    if (this.#parts > MAX_PARTS) throw notForm(`it has more than ${MAX_PARTS} parts`);
    this.#give('frame', index + 2);
    this.#place = 'head';
    return true;
  }

  #head(): boolean {
    const rest = this.#rest;
    const end = rest.indexOf(END_OF_HEAD);
    if (end > MAX_HEAD_BYTES || (end === -1 && rest.length > MAX_HEAD_BYTES))
      throw notForm(`the head of a part is longer than ${MAX_HEAD_BYTES} bytes`);
    if (end === -1) return false;
    const part = partOf(rest.toString('utf8', 0, end));
    this.#give('frame', end + END_OF_HEAD.length);
    this.#pieces.push({ kind: 'part', part });
    this.#place = 'data';
    this.#atDataStart = true;
    return true;
  }

  #data(): boolean {
    const boundaryAt = this.#rest.indexOf(this.#mark);
    if (boundaryAt === -1) {
      const whole = possibleEnd(this.#rest, this.#mark.length + 1);
      if (whole > 0) this.#giveData(whole);
      return false;
    }
    const line = lineBefore(this.#rest, boundaryAt);
    if ((this.#atDataStart && boundaryAt === 0) || line === 'bare')
      throw notForm('a part holds its boundary in a place where parsers disagree');
    if (line === 'none') {
      this.#giveData(boundaryAt + 1);
      return true;
    }
    this.#giveData(boundaryAt - CRLF.length);
    this.#give('frame', CRLF.length + this.#mark.length);
    this.#place = 'delimiter';
    return true;
  }

  #giveData(length: number): void {
    this.#give('data', length);
    this.#atDataStart = false;
  }

  #end(): boolean {
    if (this.#rest.some((byte) => byte !== CR && byte !== LF))
      throw notForm('there is data after its last boundary');
    this.#give('frame', this.#rest.length);
    return false;
  }
}

/**
 * Where in the last `length` bytes a line end with a boundary may have begun; `bytes.length` where none can have. A
 * delimiter begins with a line end or, to be distinguished from one, with a dash.
 */
function possibleEnd(bytes: Buffer, length: number): number {
  let index = Math.max(0, bytes.length - length);
  while (index < bytes.length) {
    const byte = bytes[index];
    if (byte === CR || byte === LF || byte === DASH) return index;
    index += 1;
  }
  return index;
}

/** The line end before `index`; a bare one is taken for a line end by some parsers only. */
function lineBefore(bytes: Buffer, index: number): 'crlf' | 'bare' | 'none' {
  const before = bytes[index - 1];
  if (before === LF) return bytes[index - 2] === CR ? 'crlf' : 'bare';
  return before === CR ? 'bare' : 'none';
}

function notForm(problem: string): GatewayError {
  return new GatewayError('invalid_request', `The request body is not a proper multipart form: ${problem}`);
}
