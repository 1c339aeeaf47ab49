import { sliceOf, utf8Text } from '../bytes.ts';

/**
 * Server-sent events, read from bytes (WHATWG HTML, "Server-sent events"): CR, LF and CRLF end a line,
 * several `data` lines join with LF, comments and unknown fields are skipped, a leading BOM is ignored.
 */
export interface Frame {
  /** The `event` field, or '' when the record has none. */
  event: string;
  data: string;
}

export interface FrameSplit<B extends Uint8Array = Uint8Array, F = Frame> {
  frames: F[];
  /** Bytes after the last complete record, in the same memory. */
  rest: B;
}

const LF = 10;
const CR = 13;

/**
 * Splits `bytes` into its complete records. A record is complete at its blank line. Feeding `rest` and what
 * comes next gives the same records for every way the bytes were cut; a byte order mark is therefore skipped
 * before any record, not only before the first.
 */
export function splitFrames<B extends Uint8Array>(bytes: B): FrameSplit<B> {
  return bytes.includes(CR) ? splitAnyLines(bytes) : splitLineFeeds(bytes);
}

/** Bytes whose lines all end in LF, as nearly all do: decoded at once, for a call into the decoder costs as much as a short record. */
function splitLineFeeds<B extends Uint8Array>(bytes: B): FrameSplit<B> {
  const end = afterLastBlank(bytes);
  const frames: Frame[] = [];
  const text = utf8Text(bytes, 0, end);
  let event = '';
  let data: string | null = null;
  let begins = true;
  for (let position = 0; position < text.length; ) {
    if (begins && text.charCodeAt(position) === BYTE_ORDER_MARK) position += 1;
    const lineEnd = text.indexOf('\n', position);
    begins = lineEnd === position;
    if (begins) {
      if (data !== null) frames.push({ event, data });
      event = '';
      data = null;
    } else if (text.startsWith('data:', position)) {
      const value = text.slice(valueStart(text, position + 5), lineEnd);
      data = data === null ? value : `${data}\n${value}`;
    } else if (text.startsWith('event:', position)) {
      event = text.slice(valueStart(text, position + 6), lineEnd);
    } else if (text.startsWith('data\n', position)) data = data === null ? '' : `${data}\n`;
    else if (text.startsWith('event\n', position)) event = '';
    position = lineEnd + 1;
  }
  return { frames, rest: sliceOf(bytes, end) };
}

const BYTE_ORDER_MARK = 0xfeff;

/** The index after the last two LF in a row; 0 when there are none. */
function afterLastBlank(bytes: Uint8Array): number {
  let at = bytes.lastIndexOf(LF);
  while (at > 0 && bytes[at - 1] !== LF) at = bytes.lastIndexOf(LF, at - 1);
  return at > 0 ? at + 1 : 0;
}

function splitAnyLines<B extends Uint8Array>(bytes: B): FrameSplit<B> {
  const frames: Frame[] = [];
  const lineEnd = lineEndFinder(bytes);
  let recordStart = 0;
  let position = afterByteOrderMark(bytes, 0);
  let event = '';
  let data: string[] = [];
  while (position < bytes.length) {
    const end = lineEnd(position);
    if (end === -1) break;
    // A final CR may be half of a CRLF. After a blank line that makes no difference: the LF would be one more.
    const isBlank = end === position;
    if (bytes[end] === CR && end + 1 === bytes.length && !isBlank) break;
    const next = bytes[end] === CR && bytes[end + 1] === LF ? end + 2 : end + 1;
    if (isBlank) {
      if (data.length > 0) frames.push({ event, data: data.join('\n') });
      event = '';
      data = [];
      recordStart = next;
      position = afterByteOrderMark(bytes, next);
      continue;
    }
    const line = utf8Text(bytes, position, end);
    if (line.startsWith('data:')) data.push(line.slice(valueStart(line, 5)));
    else if (line === 'data') data.push('');
    else if (line.startsWith('event:')) event = line.slice(valueStart(line, 6));
    else if (line === 'event') event = '';
    position = next;
  }
  return { frames, rest: sliceOf(bytes, recordStart) };
}

/** Where the value of a field begins whose colon stands before `at`: one space is skipped. */
function valueStart(text: string, at: number): number {
  return text.charCodeAt(at) === 32 ? at + 1 : at;
}

function afterByteOrderMark(bytes: Uint8Array, from: number): number {
  return bytes[from] === 0xef && bytes[from + 1] === 0xbb && bytes[from + 2] === 0xbf ? from + 3 : from;
}

/** Finds line ends from left to right. What is found is kept: a stream with one kind of line end has no other to find. */
function lineEndFinder(bytes: Uint8Array): (from: number) => number {
  let cr = bytes.indexOf(CR);
  let lf = bytes.indexOf(LF);
  return (from) => {
    if (cr !== -1 && cr < from) cr = bytes.indexOf(CR, from);
    if (lf !== -1 && lf < from) lf = bytes.indexOf(LF, from);
    if (cr === -1) return lf;
    return lf === -1 ? cr : Math.min(lf, cr);
  };
}
