/**
 * Walking JSON in bytes without decoding it (RFC 8259). In UTF-8 no byte of a longer character equals a
 * structural character, so that quotes and brackets can be searched for as bytes.
 */
export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;
export const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;
export const OPEN_LIST = 0x5b;
export const CLOSE_LIST = 0x5d;
export const COLON = 0x3a;
export const COMMA = 0x2c;

/**
 * How many bytes are looked at one by one before a native search for the next quote: most strings end sooner, and the quotes of
 * JSON inside a string are closer to each other than a search is worth.
 */
const NEAR = 64;

/** The index of the first byte at or after `from` that is not white space; `bytes.length` when there is none. */
export function skipSpace(bytes: Uint8Array, from: number): number {
  let index = from;
  while (index < bytes.length) {
    const byte = bytes[index] ?? 0;
    if (byte > 0x20 || (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09)) break;
    index += 1;
  }
  return index;
}

/** The index after the string whose opening quote stands at `open`; -1 when the bytes end first. */
export function stringEnd(bytes: Uint8Array, open: number): number {
  let index = open + 1;
  while (index < bytes.length) {
    const near = Math.min(bytes.length, index + NEAR);
    while (index < near) {
      const byte = bytes[index];
      if (byte === QUOTE) return index + 1;
      index += byte === BACKSLASH ? 2 : 1;
    }
    const quote = bytes.indexOf(QUOTE, index);
    if (quote === -1) return -1;
    if (!isEscaped(bytes, quote, index)) return quote + 1;
    index = quote + 1;
  }
  return -1;
}

/** Whether an odd number of backslashes stands before the byte at `index`, those before `from` not counted. */
function isEscaped(bytes: Uint8Array, index: number, from: number): boolean {
  let before = index - 1;
  while (before >= from && bytes[before] === BACKSLASH) before -= 1;
  return (index - 1 - before) % 2 === 1;
}

/** The index of the value of the field whose name ends at `nameEnd`; -1 when no colon follows the name. */
export function valueStart(bytes: Uint8Array, nameEnd: number): number {
  const colon = skipSpace(bytes, nameEnd);
  return bytes[colon] === COLON ? skipSpace(bytes, colon + 1) : -1;
}

/** The index after a byte order mark, where the bytes begin with one. */
export function afterByteOrderMark(bytes: Uint8Array): number {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
}

/** The index after the object or list that opens at `open`; -1 when it is not closed before `limit`. */
export function containerEnd(bytes: Uint8Array, open: number, limit: number = bytes.length): number {
  let depth = 0;
  let index = open;
  while (index < limit) {
    const byte = bytes[index];
    if (byte === QUOTE) {
      index = stringEnd(bytes, index);
      if (index === -1) return -1;
      continue;
    }
    index += 1;
    if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth += 1;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      depth -= 1;
      if (depth === 0) return index;
    }
  }
  return -1;
}
