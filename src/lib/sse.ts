/**
 * Server-sent events, read from bytes (WHATWG HTML, "Server-sent events"): CR, LF and CRLF end a line,
 * several `data` lines join with LF, comments and unknown fields are skipped, a leading BOM is ignored.
 */
export interface Frame {
  /** The `event` field, or '' when the record has none. */
  event: string;
  data: string;
}

export interface FrameSplit {
  frames: Frame[];
  /** Bytes after the last complete record. */
  rest: Buffer;
}

const LF = 10;
const CR = 13;

/**
 * Splits `bytes` into its complete records. A record is complete at its blank line. Feeding `rest` and what
 * comes next gives the same records for every way the bytes were cut; a byte order mark is therefore skipped
 * before any record, not only before the first.
 */
export function splitFrames(bytes: Buffer): FrameSplit {
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
    const line = bytes.toString('utf8', position, end);
    if (line.startsWith('data:')) data.push(fieldValue(line, 5));
    else if (line === 'data') data.push('');
    else if (line.startsWith('event:')) event = fieldValue(line, 6);
    else if (line === 'event') event = '';
    position = next;
  }
  return { frames, rest: bytes.subarray(recordStart) };
}

function fieldValue(line: string, from: number): string {
  return line.charCodeAt(from) === 32 ? line.slice(from + 1) : line.slice(from);
}

function afterByteOrderMark(bytes: Buffer, from: number): number {
  return bytes[from] === 0xef && bytes[from + 1] === 0xbb && bytes[from + 2] === 0xbf ? from + 3 : from;
}

/** Finds line ends from left to right. What is found is kept: a stream with one kind of line end has no other to find. */
function lineEndFinder(bytes: Buffer): (from: number) => number {
  let cr = bytes.indexOf(CR);
  let lf = bytes.indexOf(LF);
  return (from) => {
    if (cr !== -1 && cr < from) cr = bytes.indexOf(CR, from);
    if (lf !== -1 && lf < from) lf = bytes.indexOf(LF, from);
    if (cr === -1) return lf;
    return lf === -1 ? cr : Math.min(lf, cr);
  };
}
