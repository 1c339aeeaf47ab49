/** How many unchanged lines stand around a change. */
const CONTEXT = 3;
/** Above so many cells of the table that compares changed lines, the middle is shown as replaced whole. */
const MOST_CELLS = 4_000_000;

interface Line {
  sign: ' ' | '-' | '+';
  text: string;
}

/** A unified diff of two texts, as `diff -u` prints it. Empty when they are equal. */
export function unifiedDiff(path: string, before: string | null, after: string | null): string {
  if (before === after) return '';
  const lines = compared(split(before ?? ''), split(after ?? ''));
  const from = before === null ? '/dev/null' : path;
  const to = after === null ? '/dev/null' : path;
  return [`--- ${from}`, `+++ ${to}`, ...hunks(lines)].join('\n').concat('\n');
}

/** Lines without their ends. The last one is marked when it has none. */
function split(text: string): string[] {
  if (text === '') return [];
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') return lines.slice(0, -1);
  return [...lines.slice(0, -1), `${lines.at(-1)}\n\\ No newline at end of file`];
}

function compared(before: readonly string[], after: readonly string[]): Line[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  const room = Math.min(before.length, after.length) - start;
  while (end < room && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  const same = (text: string): Line => ({ sign: ' ', text });
  return [
    ...before.slice(0, start).map(same),
    ...changed(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...before.slice(before.length - end).map(same),
  ];
}

/** By the longest common subsequence. */
function changed(before: readonly string[], after: readonly string[]): Line[] {
  const width = after.length + 1;
  if ((before.length + 1) * width > MOST_CELLS) {
    return [
      ...before.map((text): Line => ({ sign: '-', text })),
      ...after.map((text): Line => ({ sign: '+', text })),
    ];
  }
  const length = new Uint32Array((before.length + 1) * width);
  const at = (row: number, column: number) => length[row * width + column] ?? 0;
  for (let row = before.length - 1; row >= 0; row -= 1) {
    for (let column = after.length - 1; column >= 0; column -= 1) {
      length[row * width + column] =
        before[row] === after[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const lines: Line[] = [];
  let row = 0;
  let column = 0;
  while (row < before.length || column < after.length) {
    if (row < before.length && before[row] === after[column]) {
      lines.push({ sign: ' ', text: before[row] ?? '' });
      row += 1;
      column += 1;
    } else if (
      row < before.length &&
      (column >= after.length || at(row + 1, column) >= at(row, column + 1))
    ) {
      lines.push({ sign: '-', text: before[row] ?? '' });
      row += 1;
    } else {
      lines.push({ sign: '+', text: after[column] ?? '' });
      column += 1;
    }
  }
  return lines;
}

function hunks(lines: readonly Line[]): string[] {
  const shown = new Set<number>();
  for (const [index, { sign }] of lines.entries()) {
    if (sign === ' ') continue;
    for (let near = index - CONTEXT; near <= index + CONTEXT; near += 1) shown.add(near);
  }
  const result: string[] = [];
  let place = { before: 1, after: 1 };
  let hunk: Line[] = [];
  let start = place;
  for (const [index, line] of lines.entries()) {
    if (shown.has(index)) {
      if (hunk.length === 0) start = { ...place };
      hunk.push(line);
    } else if (hunk.length > 0) {
      result.push(...hunkText(hunk, start));
      hunk = [];
    }
    place = {
      before: place.before + (line.sign === '+' ? 0 : 1),
      after: place.after + (line.sign === '-' ? 0 : 1),
    };
  }
  if (hunk.length > 0) result.push(...hunkText(hunk, start));
  return result;
}

function hunkText(lines: readonly Line[], start: { before: number; after: number }): string[] {
  const before = lines.filter(({ sign }) => sign !== '+').length;
  const after = lines.filter(({ sign }) => sign !== '-').length;
  const range = (from: number, count: number) => `${count === 0 ? from - 1 : from},${count}`;
  const header = `@@ -${range(start.before, before)} +${range(start.after, after)} @@`;
  return [header, ...lines.map(({ sign, text }) => sign + text)];
}
