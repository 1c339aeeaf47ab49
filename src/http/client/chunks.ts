import { ExchangeError } from './error.ts';
import type { Payload } from './payload.ts';

const CR = 13;
const LF = 10;
const TAB = 9;
const SEMICOLON = 59;
/** As much as the extensions of one answer's chunks may have together; nobody reads them. */
const MAX_EXTENSION_BYTES = 16_384;
/** Twelve hex digits: more bytes than there are, and fewer than numbers are exact to. */
const MAX_SIZE_DIGITS = 12;

type State = 'first-digit' | 'digits' | 'extension' | 'size-end' | 'data' | 'data-cr' | 'data-lf';

/** Takes a body out of its chunks (RFC 9112, 7.1), whatever pieces they come in. Its trailer is left to the caller. */
export class Chunks {
  #state: State = 'first-digit';
  #size = 0;
  #sizeDigits = 0;
  #extensionBytes = 0;
  /** True once the last chunk has come; what follows is the trailer. */
  ended = false;

  /**
   * Reads `bytes` from `start` and adds what is body to `payload`.
   * @returns where it stopped: behind the last chunk, else at the end
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
        if (byte === CR) this.#state = 'size-end';
        else if ((byte < 32 && byte !== TAB) || byte === 127) throw invalidSize();
        this.#extensionBytes += 1;
        if (this.#extensionBytes > MAX_EXTENSION_BYTES)
          throw new ExchangeError('HPE_CHUNK_EXTENSIONS_OVERFLOW', 'too much beside the sizes of chunks');
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

function invalidSize(): ExchangeError {
  return new ExchangeError('HPE_INVALID_CHUNK_SIZE', 'a chunk size is no hexadecimal number');
}

function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const lower = byte | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}
