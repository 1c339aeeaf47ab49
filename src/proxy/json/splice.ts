import { isUtf8 } from 'node:buffer';
import {
  afterByteOrderMark,
  BACKSLASH,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
  skipSpace,
  stringEnd,
} from '../../codecs/json/bytes.ts';
import { JsonCursor, stringOf } from '../../codecs/json/cursor.ts';

/** Bytes `start` to `end` (exclusive) of a JSON literal, the quotes of a string included. */
export interface Span {
  start: number;
  end: number;
}

export type ModelSearch =
  | { ok: true; value: string; start: number; end: number }
  /** `no-model` also says that the body broke off or was no JSON before a model came. */
  | { ok: false; reason: 'not-object' | 'no-model' | 'not-string' };

/**
 * The first field `model` of the JSON object in `body`. Reads no further than that, so that a body that names
 * its model first costs the same at any size; `topLevel` returns whether it is the only one and the rest is sound.
 */
export function findModel(body: Buffer): ModelSearch {
  const open = skipSpace(body, afterByteOrderMark(body));
  if (body[open] !== OPEN_OBJECT) return { ok: false, reason: 'not-object' };
  const cursor = new JsonCursor(body, open, null);
  while (cursor.next()) if (isNamed(body, cursor, MODEL)) return modelAt(body, cursor.start);
  return { ok: false, reason: 'no-model' };
}

const MODEL = Buffer.from('"model"');
const STREAM = Buffer.from('"stream"');

function modelAt(body: Buffer, start: number): ModelSearch {
  const end = body[start] === QUOTE ? stringEnd(body, start) : -1;
  const value = end === -1 ? null : stringOf(body.toString('utf8', start, end));
  return value === null ? { ok: false, reason: 'not-string' } : { ok: true, value, start, end };
}

/** Whether a field has this name, in its quotes. It may be written with escapes, of up to six bytes a character. */
function isNamed(body: Buffer, { nameEnd: end, nameStart: start }: JsonCursor, name: Buffer): boolean {
  const length = end - start;
  if (length === name.length) return body.compare(name, 0, name.length, start, end) === 0;
  if (length < name.length || length > 2 + (name.length - 2) * 6) return false;
  if (body.subarray(start, end).indexOf(BACKSLASH) === -1) return false;
  return stringOf(body.toString('utf8', start, end)) === name.toString('latin1', 1, name.length - 1);
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

/** A field of the root object. `text` is its literal, or null for an object or a list. */
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
  const fields: TopLevelFields = { model: null, stream: null, duplicates: [] };
  const cursor = new JsonCursor(body, start, MAX_DEPTH);
  while (cursor.next()) {
    const end = cursor.end();
    if (end === -1) break;
    if (isNamed(body, cursor, MODEL)) noteField(fields, 'model', body, cursor.start, end);
    else if (isNamed(body, cursor, STREAM)) noteField(fields, 'stream', body, cursor.start, end);
  }
  if (cursor.fault !== null) return { ok: false, ...cursor.fault };
  const rest = skipSpace(body, cursor.close + 1);
  return rest < body.length ? { ok: false, reason: 'invalid', at: rest } : { ok: true, ...fields };
}

interface TopLevelFields {
  model: TopLevelMember | null;
  stream: TopLevelMember | null;
  duplicates: ('model' | 'stream')[];
}

/** Keeps the first field of a name and notes that there is another. */
function noteField(
  fields: TopLevelFields,
  name: 'model' | 'stream',
  body: Buffer,
  start: number,
  end: number,
): void {
  if (fields[name] !== null) {
    if (!fields.duplicates.includes(name)) fields.duplicates.push(name);
    return;
  }
  const isContainer = body[start] === OPEN_OBJECT || body[start] === OPEN_LIST;
  fields[name] = { start, end, text: isContainer ? null : body.toString('utf8', start, end) };
}
