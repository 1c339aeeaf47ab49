import { isUtf8 } from 'node:buffer';
import {
  BACKSLASH,
  CLOSE_LIST,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  containerEnd,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
  skipSpace,
  stringEnd,
} from '../../codecs/json/bytes.ts';
import { scanValue } from '../../codecs/json/scan.ts';

/** Bytes `start` to `end` (exclusive) of a JSON literal, the quotes of a string included. */
export interface Span {
  start: number;
  end: number;
}

export type FoundModel =
  | { ok: true; value: string; start: number; end: number }
  /** `no-model` also says that the body broke off or was no JSON before a model came. */
  | { ok: false; reason: 'not-object' | 'no-model' | 'not-string' };

/**
 * The first member `model` of the JSON object in `body`. Reads no further than that, so that a body that names
 * its model first costs the same at any size; `topLevel` tells whether it is the only one and the rest is sound.
 */
export function findModel(body: Buffer): FoundModel {
  let index = skipSpace(body, afterByteOrderMark(body));
  if (body[index] !== OPEN_OBJECT) return { ok: false, reason: 'not-object' };
  do {
    const key = skipSpace(body, index + 1);
    const keyEnd = body[key] === QUOTE ? stringEnd(body, key) : -1;
    if (keyEnd === -1) break;
    const colon = skipSpace(body, keyEnd);
    if (body[colon] !== COLON) break;
    const value = skipSpace(body, colon + 1);
    if (isKey(body, key, keyEnd, MODEL)) return modelAt(body, value);
    const end = valueEnd(body, value);
    if (end === -1) break;
    index = skipSpace(body, end);
  } while (body[index] === COMMA);
  return { ok: false, reason: 'no-model' };
}

const MODEL = Buffer.from('"model"');
const STREAM = Buffer.from('"stream"');

function afterByteOrderMark(body: Buffer): number {
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0;
}

function modelAt(body: Buffer, start: number): FoundModel {
  const end = body[start] === QUOTE ? stringEnd(body, start) : -1;
  const value = end === -1 ? null : parseString(body.toString('utf8', start, end));
  return value === null ? { ok: false, reason: 'not-string' } : { ok: true, value, start, end };
}

/** The string that a JSON literal stands for; null when it holds a raw control character or a wrong escape. */
function parseString(literal: string): string | null {
  try {
    const value: unknown = JSON.parse(literal);
    return typeof value === 'string' ? value : null;
  } catch {
    return null;
  }
}

/** Compares a key with `name`, both with quotes. A key may be written with escapes, of up to six bytes a character. */
function isKey(body: Buffer, start: number, end: number, name: Buffer): boolean {
  const length = end - start;
  if (length === name.length) return body.compare(name, 0, name.length, start, end) === 0;
  if (length < name.length || length > 2 + (name.length - 2) * 6) return false;
  if (body.subarray(start, end).indexOf(BACKSLASH) === -1) return false;
  return parseString(body.toString('utf8', start, end)) === name.toString('latin1', 1, name.length - 1);
}

/** The index after the value at `start`, strings and brackets balanced; -1 when there is none. */
function valueEnd(body: Buffer, start: number): number {
  const byte = body[start];
  if (byte === QUOTE) return stringEnd(body, start);
  if (byte === OPEN_OBJECT || byte === OPEN_LIST) return containerEnd(body, start);
  let index = start;
  while (index < body.length && !endsScalar(body[index])) index += 1;
  return index === start ? -1 : index;
}

function endsScalar(byte: number | undefined): boolean {
  return (
    byte === COMMA ||
    byte === CLOSE_OBJECT ||
    byte === CLOSE_LIST ||
    byte === 0x20 ||
    byte === 0x0a ||
    byte === 0x0d ||
    byte === 0x09
  );
}

/** A body and where the literal of its model stands, counted from the start of the first piece. */
export interface NamedBody {
  pieces: readonly Buffer[];
  span: Span;
}

/** What stands before the model may be moved if it is no longer than this; known clients write a few dozen bytes. */
const MOVED_BYTES = 1024;

/**
 * The body with the literal of its model replaced by `replacement` as a JSON string, every other byte as it is.
 * The body that was passed in is used up: where the new literal has room in the old one's place, the bytes before
 * it move up to it, so that a body in one piece stays one without being copied.
 */
export function spliceModel({ pieces, span }: NamedBody, replacement: string): NamedBody {
  const literal = Buffer.from(JSON.stringify(replacement));
  const end = span.start + literal.length;
  const [first, ...rest] = pieces;
  const room = span.end - end;
  if (first !== undefined && room >= 0 && span.end <= first.length && span.start <= MOVED_BYTES) {
    first.copyWithin(room, 0, span.start);
    literal.copy(first, room + span.start);
    return { pieces: [first.subarray(room), ...rest], span: { start: span.start, end } };
  }
  return { pieces: [...aroundSpan(pieces, span, literal)], span: { start: span.start, end } };
}

/** The pieces with `literal` in the place of `span`, as views. */
function* aroundSpan(pieces: readonly Buffer[], span: Span, literal: Buffer): Generator<Buffer> {
  let offset = 0;
  let placed = false;
  for (const piece of pieces) {
    const before = piece.subarray(0, Math.max(0, span.start - offset));
    const after = piece.subarray(Math.max(0, span.end - offset));
    offset += piece.length;
    if (before.length > 0) yield before;
    if (!placed && offset > span.start) {
      yield literal;
      placed = true;
    }
    if (after.length > 0 && before.length < piece.length) yield after;
  }
}

/** A member of the root object. `text` is its literal, or null for an object or a list. */
export interface TopLevelMember extends Span {
  text: string | null;
}

export type TopLevel =
  | {
      ok: true;
      model: TopLevelMember | null;
      stream: TopLevelMember | null;
      /** Which of `model` and `stream` the body names more than once, in whatever spelling. */
      duplicates: ('model' | 'stream')[];
    }
  /** `at`: where the first fault is, in bytes. */
  | { ok: false; reason: 'not-object' | 'not-utf8' | 'too-deep' | 'invalid'; at: number };

/** Deeper nesting than any real request has, and than many JSON parsers survive. */
const MAX_DEPTH = 1_000;

/**
 * Reads the whole body once: UTF-8, structure and scalars by RFC 8259, one level of names. Inside strings only
 * the encoding and NUL are checked; wrong escapes and control characters there are left to the upstream.
 */
export function topLevel(body: Buffer): TopLevel {
  const start = skipSpace(body, afterByteOrderMark(body));
  if (body[start] !== OPEN_OBJECT) return { ok: false, reason: 'not-object', at: start };
  if (!isUtf8(body)) return { ok: false, reason: 'not-utf8', at: 0 };
  const nul = body.indexOf(0);
  if (nul !== -1) return { ok: false, reason: 'invalid', at: nul };
  const found: Found = { model: null, stream: null, duplicates: [] };
  let index = skipSpace(body, start + 1);
  if (body[index] === CLOSE_OBJECT) return ending(body, index, found);
  for (;;) {
    const keyEnd = body[index] === QUOTE ? stringEnd(body, index) : -1;
    if (keyEnd === -1) return { ok: false, reason: 'invalid', at: index };
    const colon = skipSpace(body, keyEnd);
    if (body[colon] !== COLON) return { ok: false, reason: 'invalid', at: colon };
    const value = skipSpace(body, colon + 1);
    const scan = scanValue(body, value, MAX_DEPTH);
    if (!scan.ok) return scan;
    if (isKey(body, index, keyEnd, MODEL)) note(found, 'model', body, value, scan.end);
    else if (isKey(body, index, keyEnd, STREAM)) note(found, 'stream', body, value, scan.end);
    index = skipSpace(body, scan.end);
    if (body[index] === CLOSE_OBJECT) return ending(body, index, found);
    if (body[index] !== COMMA) return { ok: false, reason: 'invalid', at: index };
    index = skipSpace(body, index + 1);
  }
}

interface Found {
  model: TopLevelMember | null;
  stream: TopLevelMember | null;
  duplicates: ('model' | 'stream')[];
}

/** Keeps the first member of a name and notes that there is another. */
function note(found: Found, name: 'model' | 'stream', body: Buffer, start: number, end: number): void {
  if (found[name] !== null) {
    if (!found.duplicates.includes(name)) found.duplicates.push(name);
    return;
  }
  const isContainer = body[start] === OPEN_OBJECT || body[start] === OPEN_LIST;
  found[name] = { start, end, text: isContainer ? null : body.toString('utf8', start, end) };
}

function ending(body: Buffer, close: number, found: Found): TopLevel {
  const rest = skipSpace(body, close + 1);
  return rest < body.length ? { ok: false, reason: 'invalid', at: rest } : { ok: true, ...found };
}
