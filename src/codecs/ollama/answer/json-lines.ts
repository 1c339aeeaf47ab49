import { sliceOf, utf8Text } from '../../../lib/bytes.ts';
import type { Frame, FrameSplit } from '../../../lib/streams/sse.ts';

const LF = 0x0a;

/**
 * Splits `bytes` into the lines that are complete, each the data of a frame without an event: the vendor streams one
 * JSON object a line (`application/x-ndjson`). JSON text holds no line ends. Blank lines, the CR of a CRLF and a byte
 * order mark are no part of any frame.
 */
export function splitLines<B extends Uint8Array>(bytes: B): FrameSplit<B> {
  const frames: Frame[] = [];
  let from = 0;
  for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, from)) {
    const data = utf8Text(bytes, from, end).trim();
    if (data !== '') frames.push({ event: '', data });
    from = end + 1;
  }
  return { frames, rest: sliceOf(bytes, from) };
}

/** The lines in `bytes`, a last one without its line end included: it may have been cut, and is no JSON then. */
export function linesIn(bytes: Uint8Array): Frame[] {
  const { frames, rest } = splitLines(bytes);
  const data = utf8Text(rest).trim();
  return data === '' ? frames : [...frames, { event: '', data }];
}

/** One line, ready for the wire. */
export function encodeLine(value: object | string): string {
  return `${JSON.stringify(value)}\n`;
}

/** Frames as lines, ready for the wire. */
export function encodeLines(frames: readonly Frame[]): string {
  let text = '';
  for (const { data } of frames) text += `${data}\n`;
  return text;
}
