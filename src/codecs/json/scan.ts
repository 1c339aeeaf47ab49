import { holdsAt, utf8Bytes } from '../../lib/bytes.ts';
import {
  CLOSE_LIST,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
  skipSpace,
  stringEnd,
} from './bytes.ts';

/** Why a value is none, and where in bytes. */
export interface ScanFault {
  reason: 'too-deep' | 'invalid';
  at: number;
}

export type Scan = { ok: true; end: number } | ({ ok: false } & ScanFault);

/**
 * Reads the JSON value at `start` by the grammar of RFC 8259, without recursion. What stands inside strings is
 * not looked at.
 * @param maxDepth containers that may be open at once
 */
export function scanValue(bytes: Uint8Array, start: number, maxDepth: number): Scan {
  const first = bytes[start];
  if (first !== OPEN_OBJECT && first !== OPEN_LIST) {
    const end = scalarEnd(bytes, start);
    return end === -1 ? { ok: false, reason: 'invalid', at: start } : { ok: true, end };
  }
  const isObject = new Uint8Array(maxDepth + 1);
  let depth = 0;
  let index = start;
  // Each turn reads one value, with its key before it, and then what closes or separates.
  for (;;) {
    if (isObject[depth] === 1) {
      index = afterKey(bytes, index);
      if (index < 0) return { ok: false, reason: 'invalid', at: ~index };
    }
    const byte = bytes[index];
    if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      depth += 1;
      if (depth > maxDepth) return { ok: false, reason: 'too-deep', at: index };
      isObject[depth] = byte === OPEN_OBJECT ? 1 : 0;
      const inner = skipSpace(bytes, index + 1);
      index = inner;
      if (bytes[inner] !== byte + 2) continue;
    } else {
      const end = scalarEnd(bytes, index);
      if (end === -1) return { ok: false, reason: 'invalid', at: index };
      index = skipSpace(bytes, end);
    }
    while (bytes[index] === (isObject[depth] === 1 ? CLOSE_OBJECT : CLOSE_LIST)) {
      depth -= 1;
      index += 1;
      if (depth === 0) return { ok: true, end: index };
      index = skipSpace(bytes, index);
    }
    if (bytes[index] !== COMMA) return { ok: false, reason: 'invalid', at: index };
    index = skipSpace(bytes, index + 1);
  }
}

/** The index of the value after the key at `index`; the complement of where the fault is when there is no key. */
function afterKey(bytes: Uint8Array, index: number): number {
  if (bytes[index] !== QUOTE) return ~index;
  const end = stringEnd(bytes, index);
  if (end === -1) return ~index;
  const colon = skipSpace(bytes, end);
  return bytes[colon] === COLON ? skipSpace(bytes, colon + 1) : ~colon;
}

const words: Readonly<Record<number, Uint8Array>> = {
  116: utf8Bytes('true'),
  102: utf8Bytes('false'),
  110: utf8Bytes('null'),
};

/** The index after the string, number or word at `start`; -1 when there is none. */
function scalarEnd(bytes: Uint8Array, start: number): number {
  const byte = bytes[start];
  if (byte === undefined) return -1;
  if (byte === QUOTE) return stringEnd(bytes, start);
  const word = words[byte];
  if (word === undefined) return numberEnd(bytes, start);
  return holdsAt(bytes, start, word) ? start + word.length : -1;
}

function numberEnd(bytes: Uint8Array, start: number): number {
  let index = bytes[start] === 0x2d ? start + 1 : start;
  const whole = digitsEnd(bytes, index);
  if (whole === index || (bytes[index] === 0x30 && whole > index + 1)) return -1;
  index = whole;
  if (bytes[index] === 0x2e) {
    const fraction = digitsEnd(bytes, index + 1);
    if (fraction === index + 1) return -1;
    index = fraction;
  }
  if (bytes[index] !== 0x65 && bytes[index] !== 0x45) return index;
  const sign = bytes[index + 1] === 0x2b || bytes[index + 1] === 0x2d ? index + 2 : index + 1;
  const exponent = digitsEnd(bytes, sign);
  return exponent === sign ? -1 : exponent;
}

function digitsEnd(bytes: Uint8Array, from: number): number {
  let index = from;
  for (;;) {
    const byte = bytes[index];
    if (byte === undefined || byte < 0x30 || byte > 0x39) return index;
    index += 1;
  }
}
