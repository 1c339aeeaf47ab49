const CONTEXT = 3;
/** Larger changes are shown as a whole removed and a whole added: comparing them takes too long. */
const MOST_CELLS = 4_000_000;

interface Line {
  sign: ' ' | '+' | '-';
  text: string;
}

/** How one text becomes another, as a unified diff without a head; empty where they are the same. */
export function lineDiff(before: string, after: string): string {
  const lines = compared(before.replace(/\n$/, '').split('\n'), after.replace(/\n$/, '').split('\n'));
  const near = lines.map((_, index) =>
    lines.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some(({ sign }) => sign !== ' '),
  );
  const shown: string[] = [];
  lines.forEach(({ sign, text }, index) => {
    if (near[index] === true) shown.push(`${sign}${text}`);
    else if (near[index - 1] === true) shown.push('@@');
  });
  if (shown.at(-1) === '@@') shown.pop();
  return shown.join('\n');
}

function compared(before: readonly string[], after: readonly string[]): Line[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (
    end < before.length - start &&
    end < after.length - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  )
    end += 1;
  const same = (lines: readonly string[]): Line[] => lines.map((text) => ({ sign: ' ', text }));
  return [
    ...same(before.slice(0, start)),
    ...changes(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...same(before.slice(before.length - end)),
  ];
}

/** By the longest common subsequence. */
function changes(before: readonly string[], after: readonly string[]): Line[] {
  const removed = (text: string): Line => ({ sign: '-', text });
  const added = (text: string): Line => ({ sign: '+', text });
  if (before.length * after.length > MOST_CELLS) return [...before.map(removed), ...after.map(added)];
  const width = after.length + 1;
  const common = new Uint32Array((before.length + 1) * width);
  const at = (row: number, column: number) => common[row * width + column] ?? 0;
  for (let row = before.length - 1; row >= 0; row -= 1)
    for (let column = after.length - 1; column >= 0; column -= 1)
      common[row * width + column] =
        before[row] === after[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
  const lines: Line[] = [];
  let row = 0;
  let column = 0;
  while (row < before.length || column < after.length) {
    const old = before[row];
    const now = after[column];
    if (old !== undefined && old === now) {
      lines.push({ sign: ' ', text: old });
      row += 1;
      column += 1;
    } else if (old !== undefined && (now === undefined || at(row + 1, column) >= at(row, column + 1))) {
      lines.push(removed(old));
      row += 1;
    } else if (now !== undefined) {
      lines.push(added(now));
      column += 1;
    }
  }
  return lines;
}
