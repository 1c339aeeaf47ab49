import {
  BACKSLASH,
  CLOSE_LIST,
  CLOSE_OBJECT,
  COMMA,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
} from '../../codecs/json/bytes.ts';

/** Longer strings, such as text and images, stand in the outline as empty ones. */
const MAX_STRING_BYTES = 1_024;
/** How long an outline may be before the rest of the root is left out. */
const MAX_ROOT_BYTES = 786_432;
/** How many bytes of it the value of one of the root's fields may take before its rest is left out, and the rest of what is in it. */
const MAX_FIELD_BYTES = 131_072;
const MAX_DEEPER_BYTES = 65_536;
/** With so many bytes it ends: a root of nothing but small fields. */
const MAX_BYTES = 1_048_576;
const SPACE = 0x20;
/** A shorter part of a string is not looked at. */
const LEAST_TEXT_BYTES = 64;

/**
 * The outline of a JSON document that comes in pieces: the document without its white space, its long strings, and what is deep in
 * large lists. What is left is small however large the document is, and what reads whole answers reads it. Not a check: of what is no
 * JSON it has something.
 */
export class JsonOutline {
  /** Bytes of long strings that were left out, of those that look like text: what is encoded has no spaces. */
  omittedTextBytes = 0;
  #out = Buffer.allocUnsafe(16_384);
  #length = 0;
  /** The brackets that close what is open in the outline, the outermost first. */
  readonly #closers: number[] = [];
  /** Containers open inside one whose rest is left out, that one included; 0 while nothing is left out. */
  #skipped = 0;
  /** Where the field of the root that is under way begins in the outline. */
  #fieldAt = 0;
  #inString = false;
  /** The piece before ended with a backslash that escapes the first byte of the next. */
  #escaped = false;
  /** Where the string under way begins in the outline; -1 for one that is left out. */
  #stringAt = -1;
  #stringBytes = 0;

  push(bytes: Buffer): void {
    let index = 0;
    while (index < bytes.length && this.#length < MAX_BYTES)
      index = this.#inString ? this.#string(bytes, index) : this.#structure(bytes, index);
  }

  /** What came up to now, with what is open closed. */
  whole(): Buffer {
    const out = Buffer.from(this.#out.subarray(0, this.#length));
    const string = this.#inString && this.#stringAt !== -1 ? [QUOTE] : [];
    return Buffer.concat([out, Buffer.from([...string, ...this.#closers.toReversed()])]);
  }

  /** What is no string: the index of the byte after it. */
  #structure(bytes: Buffer, from: number): number {
    for (let index = from; index < bytes.length; index += 1) {
      const byte = bytes[index] ?? 0;
      if (byte === QUOTE) {
        this.#openString();
        return index + 1;
      }
      if (byte === OPEN_OBJECT || byte === OPEN_LIST) this.#open(byte);
      else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) this.#close();
      else if (this.#skipped > 0 || byte <= SPACE) continue;
      else if (byte === COMMA) this.#next();
      else this.#write(byte);
      if (this.#length >= MAX_BYTES) return bytes.length;
    }
    return bytes.length;
  }

  #open(byte: number): void {
    if (this.#skipped > 0) {
      this.#skipped += 1;
      return;
    }
    this.#write(byte);
    this.#closers.push(byte === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_LIST);
    if (this.#length >= this.#limit()) this.#skipped = 1;
  }

  /** Another field or element follows. */
  #next(): void {
    if (this.#length >= this.#limit()) {
      this.#skipped = 1;
      return;
    }
    this.#write(COMMA);
    if (this.#closers.length === 1) this.#fieldAt = this.#length;
  }

  #close(): void {
    if (this.#skipped > 0) this.#skipped -= 1;
    if (this.#skipped > 0) return;
    const closer = this.#closers.pop();
    if (closer !== undefined) this.#write(closer);
  }

  /** How long the outline may be before the rest of the innermost container is left out. */
  #limit(): number {
    const depth = this.#closers.length;
    if (depth <= 1) return MAX_ROOT_BYTES;
    return this.#fieldAt + (depth === 2 ? MAX_FIELD_BYTES : MAX_DEEPER_BYTES);
  }

  #openString(): void {
    this.#inString = true;
    this.#stringBytes = 0;
    this.#stringAt = this.#skipped > 0 ? -1 : this.#length;
    if (this.#stringAt !== -1) this.#write(QUOTE);
  }

  /** A part of a string: the index after it. */
  #string(bytes: Buffer, from: number): number {
    const end = this.#stringEnd(bytes, from);
    const to = end === -1 ? bytes.length : end - 1;
    this.#stringBytes += to - from;
    if (this.#stringAt !== -1 && this.#stringBytes > MAX_STRING_BYTES) {
      this.#omit(this.#out, this.#stringAt + 1, this.#length);
      this.#length = this.#stringAt + 1;
      this.#write(QUOTE);
      this.#stringAt = -1;
    }
    if (this.#stringAt === -1) this.#omit(bytes, from, to);
    else this.#copy(bytes, from, to);
    if (end === -1) return bytes.length;
    this.#inString = false;
    if (this.#stringAt !== -1) this.#write(QUOTE);
    return end;
  }

  /** The index after the quote that ends the string under way; -1 when that is not in these bytes. */
  #stringEnd(bytes: Buffer, from: number): number {
    const begin = this.#escaped ? from + 1 : from;
    for (let quote = bytes.indexOf(QUOTE, begin); quote !== -1; quote = bytes.indexOf(QUOTE, quote + 1)) {
      if (backslashesBefore(bytes, quote, begin) % 2 === 0) {
        this.#escaped = false;
        return quote + 1;
      }
    }
    this.#escaped = begin <= bytes.length && backslashesBefore(bytes, bytes.length, begin) % 2 === 1;
    return -1;
  }

  #omit(bytes: Buffer, from: number, to: number): void {
    if (to - from >= LEAST_TEXT_BYTES && bytes.subarray(from, to).includes(SPACE))
      this.omittedTextBytes += to - from;
  }

  #write(byte: number): void {
    this.#grow(1);
    this.#out[this.#length] = byte;
    this.#length += 1;
  }

  #copy(bytes: Buffer, from: number, to: number): void {
    this.#grow(to - from);
    this.#length += bytes.copy(this.#out, this.#length, from, to);
  }

  #grow(more: number): void {
    if (this.#length + more <= this.#out.length) return;
    const larger = Buffer.allocUnsafe(2 * (this.#length + more));
    this.#out.copy(larger, 0, 0, this.#length);
    this.#out = larger;
  }
}

function backslashesBefore(bytes: Buffer, index: number, least: number): number {
  let at = index - 1;
  while (at >= least && bytes[at] === BACKSLASH) at -= 1;
  return index - 1 - at;
}
