/**
 * Bytes as every JavaScript runtime has them: what Node.js's `Buffer` offers beyond `Uint8Array`, by web standards alone.
 * Bytes that are a `Buffer` are read with its own methods, which cost a fraction of `TextDecoder`'s for short texts.
 */
interface ReadableBytes {
  toString(encoding?: 'utf8' | 'latin1', start?: number, end?: number): string;
  indexOf(value: number | Uint8Array, from?: number): number;
  lastIndexOf(value: number | Uint8Array, from?: number): number;
  constructor: { concat(pieces: readonly Uint8Array[]): Uint8Array };
}

/** The bytes as Node.js's subclass, which reads texts and finds sequences natively; null where they are not of it. */
function readable(bytes: Uint8Array): ReadableBytes | null {
  return isReadable(bytes) ? bytes : null;
}

function isReadable(bytes: Uint8Array): bytes is Uint8Array & ReadableBytes {
  return 'readUInt8' in bytes;
}

const encoder = /* @__PURE__ */ new TextEncoder();
const decoder = /* @__PURE__ */ new TextDecoder('utf-8', { ignoreBOM: true });

/** The text in UTF-8. Half a surrogate pair becomes U+FFFD. */
// @__NO_SIDE_EFFECTS__
export function utf8Bytes(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text);
}

/** The text of UTF-8 bytes from `start` to before `end`. What is no UTF-8 becomes U+FFFD; a byte order mark is kept. */
export function utf8Text(bytes: Uint8Array, start = 0, end = bytes.length): string {
  return (
    readable(bytes)?.toString('utf8', start, end) ??
    decoder.decode(start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end))
  );
}

/** The characters U+0000 to U+00FF that the bytes from `start` to before `end` number: for short spans of ASCII. */
export function latin1Text(bytes: Uint8Array, start: number, end: number): string {
  return (
    readable(bytes)?.toString('latin1', start, end) ?? String.fromCharCode(...bytes.subarray(start, end))
  );
}

/** How many bytes the text has in UTF-8 (RFC 3629). */
export function utf8Length(text: string): number {
  let length = text.length;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    length += unit < 0x800 ? 1 : 2;
    if (unit < 0xd800 || unit > 0xdbff) continue;
    const next = text.charCodeAt(index + 1);
    // A pair is four bytes, and was counted as two units of one.
    if (next >= 0xdc00 && next <= 0xdfff) index += 1;
  }
  return length;
}

/** The index of the first `sequence` in the bytes at or after `from`; -1 when there is none. */
export function indexOfBytes(bytes: Uint8Array, sequence: Uint8Array, from = 0): number {
  const native = readable(bytes);
  if (native !== null) return native.indexOf(sequence, from);
  const [first = 0] = sequence;
  let at = bytes.indexOf(first, from);
  while (at !== -1 && !holdsAt(bytes, at, sequence)) at = bytes.indexOf(first, at + 1);
  return at;
}

/** The index of the last `sequence` in the bytes that begins at or before `from`; -1 when there is none. */
export function lastIndexOfBytes(bytes: Uint8Array, sequence: Uint8Array, from = bytes.length): number {
  const native = readable(bytes);
  if (native !== null) return native.lastIndexOf(sequence, from);
  const [first = 0] = sequence;
  let at = bytes.lastIndexOf(first, from);
  while (at !== -1 && !holdsAt(bytes, at, sequence)) at = at === 0 ? -1 : bytes.lastIndexOf(first, at - 1);
  return at;
}

/** Bytes of requests with code in them, the commonest first; what is not here is rare. */
const COMMON = ' eatnrsoi"l\\dcu,mphf:gyb.v/w1203(){}[]=-;4567898_kSTCEAx';

/**
 * Below this length V8 and Node look for a sequence by its first byte, with the processor's widest instructions; a longer one is
 * looked for by a method that is ten times slower where the first byte is rare.
 */
const MOST_PROBE_BYTES = 6;
/** A shorter probe stands in too many places that are none: each costs as much as a hundred bytes. */
const LEAST_PROBE_BYTES = 3;

/** The part of a sequence that begins with its rarest byte, and where that stands in it. */
export function probeOf(sequence: Uint8Array): { probe: Uint8Array; offset: number } {
  const starts = Math.max(1, sequence.length - LEAST_PROBE_BYTES + 1);
  let offset = 0;
  let rarest = -1;
  for (const [index, byte] of sequence.subarray(0, starts).entries()) {
    const rank = COMMON.indexOf(String.fromCharCode(byte));
    const rarity = rank === -1 ? COMMON.length : rank;
    if (rarity <= rarest) continue;
    rarest = rarity;
    offset = index;
  }
  return { offset, probe: sequence.subarray(offset, offset + MOST_PROBE_BYTES) };
}

/** Whether `sequence` stands in the bytes at `at`. */
export function holdsAt(bytes: Uint8Array, at: number, sequence: Uint8Array): boolean {
  for (let index = 0; index < sequence.length; index += 1)
    if (bytes[at + index] !== sequence[index]) return false;
  return true;
}

/** The pieces in one, in a copy of its own. */
export function concatBytes(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** The pieces in one, of the kind of the first: itself where it is the only one, else a copy. */
export function joinedBytes<B extends Uint8Array>(pieces: readonly B[]): B {
  const [first, ...others] = pieces;
  if (first !== undefined && others.length === 0) return first;
  // The concatenation of Node.js's `Buffer` makes another `Buffer`.
  const native = first === undefined ? null : readable(first);
  return (native?.constructor.concat(pieces) ?? concatBytes(pieces)) as B;
}

/** Bytes from `start` to before `end`, of the same kind and in the same memory. */
export function sliceOf<B extends Uint8Array>(bytes: B, start: number, end?: number): B {
  return bytes.subarray(start, end) as B;
}

/** Characters that are turned into one string at once: more would be too many arguments for a call. */
const AT_ONCE = 8_192;

/** The UTF-8 bytes of a text in base64 (RFC 4648, section 4), with padding. */
export function base64OfText(text: string): string {
  const bytes = utf8Bytes(text);
  let binary = '';
  for (let at = 0; at < bytes.length; at += AT_ONCE)
    binary += String.fromCharCode(...bytes.subarray(at, at + AT_ONCE));
  return btoa(binary);
}

/** The UTF-8 bytes of a text in base64 for URLs (RFC 4648, section 5), without padding. */
export function base64UrlOfText(text: string): string {
  return base64OfText(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/**
 * The text whose UTF-8 bytes are given in base64 of either alphabet. As lenient as Node.js: what follows a padding, what is
 * in no alphabet and a last character that makes no byte are passed over.
 */
export function textOfBase64(base64: string): string {
  const [given = ''] = base64.split('=', 1);
  const digits = given
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replace(/[^A-Za-z0-9+/]+/g, '');
  const whole = digits.length % 4 === 1 ? digits.slice(0, -1) : digits;
  const binary = atob(whole);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index += 1) bytes[index] = binary.charCodeAt(index);
  return utf8Text(bytes);
}
