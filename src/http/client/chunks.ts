import { ExchangeError } from './error.ts';
import type { Payload } from './payload.ts';

const CR = 13;
const LF = 10;
const TAB = 9;
const SEMICOLON = 59;
const EQUALS = 61;
const QUOTE = 34;
const BACKSLASH = 92;
/** The limit on all chunk extensions of one answer, which are ignored. */
const MAX_EXTENSION_BYTES = 16_384;
/** Twelve hex digits: more bytes than there are, and fewer than numbers are exact to. */
const MAX_SIZE_DIGITS = 12;

type ExtensionState = 'extension' | 'name' | 'value' | 'quoted' | 'escaped' | 'quoted-end';
type State = 'first-digit' | 'digits' | ExtensionState | 'size-end' | 'data' | 'data-cr' | 'data-lf';

/** Takes a body out of its chunks (RFC 9112, 7.1), whatever pieces they come in. Its trailer is left to the caller. */
export class Chunks {
  #state: State = 'first-digit';
  #size = 0;
  #sizeDigits = 0;
  #extensionBytes = 0;
  /** True once the last chunk has come; what follows is the trailer. */
  ended = false;

  /**
   * Reads `bytes` from `start` and adds the bytes of the body to `payload`.
   * @returns where it stopped: after the last chunk, otherwise at the end
   * @throws ExchangeError `HPE_…`
   */
  read(bytes: Buffer, start: number, payload: Payload): number {
    let at = start;
    while (at < bytes.length && !this.ended) {
      if (this.#state === 'data') {
        const end = Math.min(bytes.length, at + this.#size);
        payload.add(bytes, at, end);
        this.#size -= end - at;
        at = end;
        if (this.#size === 0) this.#state = 'data-cr';
      } else {
        this.#take(bytes[at] ?? 0);
        at += 1;
      }
    }
    return at;
  }

  #take(byte: number): void {
    switch (this.#state) {
      case 'first-digit':
      case 'digits':
        this.#takeDigit(byte);
        return;
      case 'extension':
      case 'name':
      case 'value':
      case 'quoted':
      case 'escaped':
      case 'quoted-end':
        this.#state = afterExtensionByte(this.#state, byte);
        this.#extensionBytes += 1;
        if (this.#extensionBytes > MAX_EXTENSION_BYTES)
          throw new ExchangeError('HPE_CHUNK_EXTENSIONS_OVERFLOW', 'the chunk extensions are too long');
        return;
      case 'size-end':
        if (byte !== LF) throw new ExchangeError('HPE_LF_EXPECTED', 'no line feed behind a chunk size');
        this.ended = this.#size === 0;
        this.#state = 'data';
        return;
      case 'data-cr':
        if (byte !== CR) throw new ExchangeError('HPE_STRICT', 'a chunk is longer than its size');
        this.#state = 'data-lf';
        return;
      case 'data-lf':
        if (byte !== LF) throw new ExchangeError('HPE_STRICT', 'a chunk is longer than its size');
        this.#state = 'first-digit';
        this.#sizeDigits = 0;
        return;
      case 'data':
        return;
    }
  }

  #takeDigit(byte: number): void {
    const digit = hexDigit(byte);
    if (digit === -1) {
      if (this.#state === 'first-digit') throw invalidSize();
      if (byte === CR) this.#state = 'size-end';
      else if (byte === SEMICOLON) this.#state = 'extension';
      else throw invalidSize();
      return;
    }
    this.#size = (this.#state === 'first-digit' ? 0 : this.#size * 16) + digit;
    this.#state = 'digits';
    this.#sizeDigits += 1;
    if (this.#sizeDigits > MAX_SIZE_DIGITS) throw invalidSize();
  }
}

/** Nothing of an extension is used, but who reads it otherwise than others do finds another body (RFC 9112, 7.1.1). */
function afterExtensionByte(state: ExtensionState, byte: number): State {
  switch (state) {
    case 'extension':
      if (isTokenByte(byte)) return 'name';
      break;
    case 'name':
      if (isTokenByte(byte)) return 'name';
      if (byte === EQUALS) return 'value';
      if (byte === SEMICOLON) return 'extension';
      if (byte === CR) return 'size-end';
      break;
    case 'value':
      if (isTokenByte(byte)) return 'value';
      if (byte === QUOTE) return 'quoted';
      if (byte === SEMICOLON) return 'extension';
      if (byte === CR) return 'size-end';
      break;
    case 'quoted':
      if (byte === QUOTE) return 'quoted-end';
      if (byte === BACKSLASH) return 'escaped';
      if (isTextByte(byte)) return 'quoted';
      break;
    case 'escaped':
      if (isTextByte(byte)) return 'quoted';
      break;
    case 'quoted-end':
      if (byte === SEMICOLON) return 'extension';
      if (byte === CR) return 'size-end';
      break;
  }
  throw new ExchangeError('HPE_INVALID_CHUNK_SIZE', 'a chunk has an invalid extension');
}

/** RFC 9110, 5.6.2. */
function isTokenByte(byte: number): boolean {
  return byte < 128 && /[!#$%&'*+\-.^_`|~0-9A-Za-z]/.test(String.fromCharCode(byte));
}

function isTextByte(byte: number): boolean {
  return byte === TAB || (byte >= 32 && byte !== 127);
}

function invalidSize(): ExchangeError {
  return new ExchangeError('HPE_INVALID_CHUNK_SIZE', 'a chunk size is not a hexadecimal number');
}

function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const lower = byte | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}
