import {
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

/** Where the entries of a list stand: behind its bracket, and before the one that ends it. */
interface ListSpan {
  start: number;
  end: number;
}

/**
 * Where a list stands that is a field of the object in `body`, which is JSON; null where there is none, or the name of a
 * field is written with escapes, or stands there twice.
 */
export function listSpan(body: Buffer, name: string): ListSpan | null {
  let span: ListSpan | null = null;
  let index = skipSpace(body, 0);
  if (body[index] !== OPEN_OBJECT) return null;
  index = skipSpace(body, index + 1);
  while (body[index] === QUOTE) {
    const nameEnd = stringEnd(body, index);
    const own = body.toString('latin1', index + 1, nameEnd - 1);
    const colon = skipSpace(body, nameEnd);
    if (nameEnd === -1 || own.includes('\\') || body[colon] !== COLON) return null;
    const value = skipSpace(body, colon + 1);
    const end = valueEnd(body, value);
    if (end === -1) return null;
    if (own === name) {
      if (span !== null || body[value] !== OPEN_LIST) return null;
      span = { start: value + 1, end: end - 1 };
    }
    index = skipSpace(body, end);
    if (body[index] !== COMMA) break;
    index = skipSpace(body, index + 1);
  }
  return body[index] === CLOSE_OBJECT ? span : null;
}

/** The index after the value at `from`; -1 when the bytes end first. */
function valueEnd(body: Buffer, from: number): number {
  const byte = body[from];
  if (byte === QUOTE) return stringEnd(body, from);
  if (byte === OPEN_OBJECT || byte === OPEN_LIST) return containerEnd(body, from);
  let index = from;
  while (index < body.length && body[index] !== COMMA && body[index] !== CLOSE_OBJECT) index += 1;
  return index;
}

/** The index after so many objects that are the next entries of a list; -1 where other entries are among them. */
export function entriesEnd(body: Buffer, from: number, count: number): number {
  let index = from;
  for (let entry = 0; entry < count; entry += 1) {
    index = skipSpace(body, index);
    if (body[index] === COMMA) index = skipSpace(body, index + 1);
    if (body[index] !== OPEN_OBJECT) return -1;
    index = containerEnd(body, index);
    if (index === -1) return -1;
  }
  return index;
}
