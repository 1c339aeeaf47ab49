/** How a text is laid out, so that what is added looks like the rest. */
export interface Layout {
  eol: string;
  /** One level of indentation. */
  unit: string;
}

export function layoutOf(text: string): Layout {
  const [, indent = '  '] = /\n([ \t]+)\S/.exec(text) ?? [];
  return { eol: text.includes('\r\n') ? '\r\n' : '\n', unit: indent.startsWith('\t') ? '\t' : indent };
}

/** The white space at the start of the line that `offset` is in. */
export function indentAt(text: string, offset: number): string {
  const start = lineStart(text, offset);
  let end = start;
  while (text[end] === ' ' || text[end] === '\t') end += 1;
  return text.slice(start, end);
}

/** Where the line of `offset` begins. */
export function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1;
}

/** Where the line of `offset` ends, before its line break. */
export function lineEnd(text: string, offset: number): number {
  const end = text.indexOf('\n', offset);
  if (end === -1) return text.length;
  return end > offset && text[end - 1] === '\r' ? end - 1 : end;
}

/** Where the next line begins; the end of the text on the last line. */
export function nextLine(text: string, offset: number): number {
  const end = text.indexOf('\n', offset);
  return end === -1 ? text.length : end + 1;
}

/** Line and column of an offset, counted from 1. */
export function placeOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  return { line: before.split('\n').length, column: offset - lineStart(text, offset) + 1 };
}

export interface Splice {
  start: number;
  end: number;
  text: string;
}

/** The text with the splices made. They must not overlap. */
export function spliced(text: string, splices: readonly Splice[]): string {
  let result = text;
  for (const { end, start, text: added } of [...splices].sort((a, b) => b.start - a.start))
    result = result.slice(0, start) + added + result.slice(end);
  return result;
}
