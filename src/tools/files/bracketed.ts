import { indentAt, type Layout, lineEnd, lineStart, spliced } from './layout.ts';

/** A list between brackets whose items are separated by commas: of JSON, of a YAML flow, of a TOML inline table. */
export interface BracketedList {
  /** After the opening bracket. */
  open: number;
  /** Of the closing bracket. */
  close: number;
  items: readonly { start: number; end: number }[];
}

/** How comments begin in the syntax: `//` and `/*`, or `#`. */
export type CommentStyle = 'slash' | 'hash';

/** Writes an item. Its further lines are indented by `indent`. */
export type RenderItem = (indent: string, inline: boolean) => string;

/** Adds an item at the end, in the style of the list: on a line of its own, with a trailing comma, or in the row. */
export function insertItem(
  text: string,
  list: BracketedList,
  render: RenderItem,
  layout: Layout,
  comments: CommentStyle,
): string {
  const first = list.items[0];
  const last = list.items.at(-1);
  if (first === undefined || last === undefined) return insertFirst(text, list, render, layout);
  const inline = !text.slice(list.open, first.start).includes('\n');
  const comma = commaAfter(text, last.end, list.close, comments);
  if (inline) {
    const item = render('', true);
    return comma === null
      ? spliced(text, [{ start: last.end, end: last.end, text: `, ${item}` }])
      : spliced(text, [{ start: comma + 1, end: comma + 1, text: ` ${item},` }]);
  }
  const indent = indentAt(text, first.start);
  const item = `${layout.eol}${indent}${render(indent, false)}`;
  if (comma !== null) {
    const at = endOfRow(text, comma + 1, list.close, comments);
    return spliced(text, [{ start: at, end: at, text: `${item},` }]);
  }
  const at = endOfRow(text, last.end, list.close, comments);
  if (at === last.end) return spliced(text, [{ start: at, end: at, text: `,${item}` }]);
  return spliced(text, [
    { start: last.end, end: last.end, text: ',' },
    { start: at, end: at, text: item },
  ]);
}

function insertFirst(text: string, list: BracketedList, render: RenderItem, { eol, unit }: Layout): string {
  const inner = text.slice(list.open, list.close);
  const outer = indentAt(text, list.open);
  const indent = outer + unit;
  const item = `${eol}${indent}${render(indent, false)}`;
  if (inner.trim() === '')
    return spliced(text, [{ start: list.open, end: list.close, text: `${item}${eol}${outer}` }]);
  // Only comments stand there: they keep their place, and the item follows them.
  const at = list.open + inner.trimEnd().length;
  const rest = text.slice(at, list.close).includes('\n') ? '' : `${eol}${outer}`;
  return spliced(text, [{ start: at, end: at, text: `${item}${rest}` }]);
}

/** Takes an item away, with the comma that only it needed. Comments stay. */
export function removeItem(text: string, list: BracketedList, index: number, comments: CommentStyle): string {
  const item = list.items[index];
  if (item === undefined) return text;
  const previous = list.items[index - 1];
  const next = list.items[index + 1];
  const comma = commaAfter(text, item.end, list.close, comments);
  if (previous === undefined && next === undefined) {
    const end = comma === null ? item.end : comma + 1;
    const rest = text.slice(list.open, item.start) + text.slice(end, list.close);
    if (rest.trim() === '') return spliced(text, [{ start: list.open, end: list.close, text: '' }]);
  }
  const before = previous === undefined ? null : commaAfter(text, previous.end, item.start, comments);
  // In a row the white space before the item goes with it.
  const start = ownStart(text, item.start, list.open) ?? (before === null ? item.start : before + 1);
  if (comma !== null) {
    const firstOfRow = previous === undefined && next !== undefined && start === item.start;
    const end = firstOfRow ? next.start : comma + 1;
    return spliced(text, [{ start, end, text: '' }]);
  }
  const splices = [{ start, end: item.end, text: '' }];
  if (before !== null) splices.push({ start: before, end: before + 1, text: '' });
  return spliced(text, splices);
}

/** From where an item that has its line to itself is cut away: the line break before it. Null when it has not. */
function ownStart(text: string, start: number, open: number): number | null {
  const line = lineStart(text, start);
  if (line <= open || text.slice(line, start).trim() !== '') return null;
  return text[line - 2] === '\r' ? line - 2 : line - 1;
}

/** The comma that follows `from`, or null. */
function commaAfter(text: string, from: number, limit: number, comments: CommentStyle): number | null {
  let at = from;
  while (at < limit) {
    const comment = commentEnd(text, at, comments);
    if (comment !== null) at = comment;
    else if (text[at] === ',') return at;
    else if (/\s/.test(text[at] ?? '')) at += 1;
    else return null;
  }
  return null;
}

/** The end of what stands behind an item in its row: blanks are left out, a comment belongs to it. */
function endOfRow(text: string, from: number, limit: number, comments: CommentStyle): number {
  let at = from;
  let end = from;
  while (at < limit && text[at] !== '\n') {
    const comment = commentEnd(text, at, comments);
    if (comment !== null) {
      if (text.slice(at, comment).includes('\n')) return end;
      at = comment;
      end = comment;
    } else if (text[at] === ' ' || text[at] === '\t' || text[at] === '\r') at += 1;
    else return end;
  }
  return end;
}

/** Where the comment that begins at `at` ends, or null when none does. */
function commentEnd(text: string, at: number, comments: CommentStyle): number | null {
  if (comments === 'hash') return text[at] === '#' ? lineEnd(text, at) : null;
  if (text.startsWith('//', at)) return lineEnd(text, at);
  if (!text.startsWith('/*', at)) return null;
  const end = text.indexOf('*/', at + 2);
  return end === -1 ? text.length : end + 2;
}
