import type { Position } from '../../events/cesql/cesql.ts';

/** Longest line that is shown, in characters. */
const WIDTH = 100;
const BEFORE = 40;

/** The line of an expression that a position is in, and below it a mark under the place. */
export function excerpt(text: string, { column, end, line, offset }: Position): string {
  const whole = [...shownLine(text.split('\n')[line - 1] ?? '')];
  const start = offset - (column - 1);
  const before = [...text.slice(start, offset)].length;
  const marked = Math.max(1, [...text.slice(offset, end)].length);
  const from = whole.length <= WIDTH ? 0 : Math.max(0, before - BEFORE);
  const shown = whole.slice(from, from + WIDTH);
  const indent = before - from;
  const length = Math.max(1, Math.min(marked, shown.length - indent));
  return `  ${shown.join('')}\n  ${' '.repeat(indent)}${'^'.repeat(length)}`;
}

/** A character for a character, so that the mark stays below its place. */
function shownLine(line: string): string {
  return line.replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ');
}
