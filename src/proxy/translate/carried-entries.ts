import { isAscii, isUtf8 } from 'node:buffer';
import { parseJson } from '../../codecs/json/lossless.ts';
import { jsonBytes } from './json-bytes.ts';
import { backslashesBefore, markOf, marksIn } from './long-texts.ts';

/** Entries of a list of turns, and how what was made of them is written. */
export interface ReadEntries {
  entries: readonly unknown[];
  /** JSON that was made of some of the entries, in UTF-8; null where that cannot be said. */
  write(json: string): Buffer | null;
  /** The same for entries that were written before. */
  rewrite(json: string): Buffer | null;
  /** Whether all that was said in the entries has been written. */
  isWritten(): boolean;
}

/** Fields that hold what was said, as in `long-texts.ts`, and what a tool gave back. */
const SAID = /"(?:text|content|output)": ?"/g;

/**
 * With what agents' tools write into files: Claude Code and Gemini CLI replace `old_string` by `new_string`, Anthropic's editor
 * `old_str` by `new_str`, and its `file_text` is a whole file.
 */
const SAID_AND_EDITED = /"(?:text|content|output|(?:old|new)_(?:string|str|text)|file_text)": ?"/g;

/**
 * A text that `JSON.stringify` writes as it stands, with its quote: other escapes than these would be written in another way. The
 * tab that is a space and has no letter of its own is not among them.
 */
const CANONICAL = /[^"\\\x00-\x1f]*(?:\\(?:["\\bfnrt]|u00(?:0[0-7ef]|1[0-9a-f]))[^"\\\x00-\x1f]*)*"/y;

/** Shorter texts cost about as much to carry as to read and to write. */
const LONG = 256;

/** Bytes of the beginning that are read: no codec looks further. */
const BEGINNING = 32;

/**
 * Reads entries that stand in `body` from `start` to before `end`, without the middle of their long texts: those are neither read nor
 * written, and go as bytes from the request that came into the one that is sent. Both ends of a text are read, for codecs look at
 * how it begins, and at the space behind it. Null where there are no long texts, or no entries.
 * @param nests whether arguments of calls become JSON within JSON: then short texts in them are cheaper to write than to carry
 */
export function carryEntries(body: Buffer, start: number, end: number, nests: boolean): ReadEntries | null {
  const bytes = body.subarray(start, end);
  const isPlain = isAscii(bytes);
  // Text that is not valid is corrected where it is read.
  if (!isPlain && !isUtf8(bytes)) return null;
  const text = bytes.toString('latin1');
  const textBetween = (first: number, last: number) =>
    isPlain ? text.slice(first, last) : bytes.toString('utf8', first, last);
  const texts: Buffer[] = [];
  const pieces: string[] = ['['];
  let from = 0;
  const anchor = nests ? SAID : SAID_AND_EDITED;
  anchor.lastIndex = 0;
  while (anchor.test(text)) {
    const begin = anchor.lastIndex;
    CANONICAL.lastIndex = begin;
    if (!CANONICAL.test(text)) continue;
    const quote = CANONICAL.lastIndex - 1;
    anchor.lastIndex = quote + 1;
    if (quote - begin < LONG) continue;
    const first = afterBeginning(text, begin);
    const last = lastPrinted(text, first, quote);
    if (last - first < LONG) continue;
    pieces.push(textBetween(from, first), markOf(texts.length));
    texts.push(bytes.subarray(first, last));
    from = last;
  }
  if (texts.length === 0) return null;
  pieces.push(textBetween(from, bytes.length), ']');
  const entries = entriesOf(pieces.join(''));
  const unwritten = new Set(texts);
  return entries === null
    ? null
    : {
        entries,
        write: (json) => restoreTexts(json, texts, unwritten),
        rewrite: (json) => restoreTexts(json, texts, new Set(texts)),
        isWritten: () => unwritten.size === 0,
      };
}

/** Reads entries whole; null where there are none. */
export function readEntries(body: Buffer, start: number, end: number): ReadEntries | null {
  const text = body.toString('utf8', start, end);
  const isWide = text.length < end - start;
  const entries = entriesOf(`[${text}]`);
  const write = (json: string) => jsonBytes(json, isWide);
  return entries === null ? null : { entries, write, rewrite: write, isWritten: () => true };
}

function entriesOf(json: string): readonly unknown[] | null {
  try {
    const entries = parseJson(json);
    return Array.isArray(entries) ? entries : null;
  } catch {
    return null;
  }
}

/** Where the beginning of a text ends: behind an escape, and behind a whole character. */
function afterBeginning(text: string, begin: number): number {
  let index = begin;
  while (index < begin + BEGINNING) index += text[index] !== '\\' ? 1 : text[index + 1] === 'u' ? 6 : 2;
  while ((text.charCodeAt(index) & 0xc0) === 0x80) index += 1;
  return index;
}

/** The index after the last character of a text that is surely no space. */
function lastPrinted(text: string, begin: number, end: number): number {
  let index = end;
  while (index > begin) {
    const code = text.charCodeAt(index - 1);
    const isEscape = backslashesBefore(text, index - 1, begin) % 2 === 1;
    // Of the escapes, quotes and backslashes alone are no spaces.
    if (isEscape ? code === 0x22 || code === 0x5c : code > 0x20 && code < 0x7f) return index;
    index -= isEscape ? 2 : 1;
  }
  return begin;
}

/** UTF-8 bytes of a UTF-16 code unit, at most. */
const MAX_BYTES_PER_UNIT = 3;

/** The bytes of JSON with more code units are counted: memory for the most that they may be would be too large. */
const COUNTED = 32_768;

/** @param unwritten the texts that were not written yet */
function restoreTexts(json: string, texts: readonly Buffer[], unwritten: Set<Buffer>): Buffer | null {
  const spans = marksIn(json);
  if (spans === null) return null;
  const restored: Buffer[] = [];
  // To count the bytes takes as long as to write them.
  let most = json.length > COUNTED ? Buffer.byteLength(json) : json.length * MAX_BYTES_PER_UNIT;
  for (const { backslashes, index } of spans) {
    const text = texts[index];
    // Twice is once too often.
    if (text === undefined || !unwritten.delete(text)) return null;
    const bytes = backslashes === 1 ? text : innerText(text, backslashes);
    restored.push(bytes);
    most += bytes.length;
  }
  const whole = Buffer.allocUnsafe(most);
  let at = 0;
  let from = 0;
  for (const [index, { end, start }] of spans.entries()) {
    at += whole.write(json.slice(from, start), at);
    at += restored[index]?.copy(whole, at) ?? 0;
    from = end;
  }
  at += whole.write(json.slice(from), at);
  return whole.subarray(0, at);
}

/**
 * A text as it stands in JSON within JSON, where `backslashes` are what one of them takes. It is written as it came (`CANONICAL`), so
 * that only what is around it escapes it once more.
 */
function innerText(text: Buffer, backslashes: number): Buffer {
  const written = text.toString();
  let escaped = written;
  for (let depth = 2; depth <= backslashes; depth *= 2) escaped = JSON.stringify(escaped).slice(1, -1);
  return jsonBytes(escaped, written.length < text.length);
}
