import { printable, type StyleName } from './text.ts';

export interface Column<Row> {
  title: string;
  cell: (row: Row) => string;
  align?: 'right';
  style?: (row: Row) => StyleName | null | undefined;
  /** Left out where the terminal is too narrow for it. */
  optional?: boolean;
}

type Paint = (style: StyleName, text: string) => string;

/** A column with its cells as text, and how wide it is printed. */
interface TableColumn {
  title: string;
  align: 'right' | undefined;
  optional: boolean;
  cells: { text: string; style: StyleName | null }[];
  width: number;
}

const GAP = 2;

/**
 * Aligned columns with a header line; two spaces between columns, none at the end of a line. What does not fit loses its
 * optional columns, the last ones first; then cells are wrapped at blanks; then each row is printed as lines of its own.
 * Nothing is cut, so that what is printed can be copied.
 * @param width characters of a line of the terminal; null where there is no limit
 */
export function table<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { paint, width }: { paint: Paint; width: number | null },
): string {
  const laidOut = columns.map((column) => draw(column, rows));
  if (width === null) return grid(laidOut, paint);
  let shown = laidOut;
  while (totalOf(shown) > width && shown.some(({ optional }) => optional)) shown = withoutLastOptional(shown);
  const fitted = fit(shown, width);
  if (fitted === null) return stacked(laidOut, { paint, width });
  const left = laidOut.filter((column) => !shown.includes(column)).map(({ title }) => title);
  if (left.length === 0) return grid(fitted, paint);
  const note = wrap(`Not shown, for the terminal is too narrow: ${left.join(', ')}. --json has all.`, width);
  return [grid(fitted, paint), ...note.map((line) => paint('dim', line))].join('\n');
}

function draw<Row>(
  { align, cell, optional = false, style, title }: Column<Row>,
  rows: readonly Row[],
): TableColumn {
  const cells = rows.map((row) => ({ text: printable(cell(row)), style: style?.(row) ?? null }));
  const width = Math.max(title.length, ...cells.map(({ text }) => text.length));
  return { title, align, optional, cells, width };
}

const totalOf = (columns: readonly TableColumn[]) =>
  columns.reduce((sum, { width }) => sum + width, GAP * (columns.length - 1));

function withoutLastOptional(columns: readonly TableColumn[]): TableColumn[] {
  return columns.toSpliced(
    columns.findLastIndex(({ optional }) => optional),
    1,
  );
}

/** The columns, the widest made narrower until all fit; null where their longest words do not fit. */
function fit(columns: readonly TableColumn[], width: number): TableColumn[] | null {
  const fitted = columns.map((column) => ({ ...column, least: longestWord(column) }));
  for (let over = totalOf(fitted) - width; over > 0; over = totalOf(fitted) - width) {
    const [widest] = fitted.filter((one) => one.width > one.least).sort((a, b) => b.width - a.width);
    if (widest === undefined) return null;
    widest.width = Math.max(widest.least, widest.width - over, Math.ceil(widest.width / 2));
  }
  return fitted;
}

function longestWord({ cells, title }: TableColumn): number {
  const words = cells.flatMap(({ text }) => text.split(' '));
  return Math.max(title.length, ...words.map(({ length }) => length));
}

function grid(columns: readonly TableColumn[], paint: Paint): string {
  const pad = (text: string, { align, width }: TableColumn, last: boolean) => {
    if (align === 'right') return text.padStart(width);
    return last ? text : text.padEnd(width);
  };
  const line = (cellOf: (column: TableColumn, last: boolean) => string) =>
    columns.map((column, index) => cellOf(column, index === columns.length - 1)).join(' '.repeat(GAP));
  const header = paint(
    'bold',
    line((column, last) => pad(column.title, column, last)),
  );
  const count = columns[0]?.cells.length ?? 0;
  const body = Array.from({ length: count }, (_, row) => {
    const wrapped = new Map(columns.map((one) => [one, wrap(one.cells[row]?.text ?? '', one.width)]));
    const height = Math.max(...[...wrapped.values()].map(({ length }) => length));
    return Array.from({ length: height }, (__, part) =>
      line((column, last) => {
        const padded = pad(wrapped.get(column)?.[part] ?? '', column, last);
        const style = column.cells[row]?.style ?? null;
        return style === null ? padded : paint(style, padded);
      }).trimEnd(),
    );
  });
  return [header, ...body.flat()].join('\n');
}

/** Lines of at most `width` characters, broken at blanks; a longer word has a line of its own. */
function wrap(text: string, width: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line === '') lines[lines.length - 1] = word;
    else if (line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** Each row by itself: its first cell, and below it the others with their titles. */
function stacked(
  [first, ...others]: readonly TableColumn[],
  { paint, width }: { paint: Paint; width: number },
): string {
  const titles = Math.max(0, ...others.map(({ title }) => title.length));
  const rows = (first?.cells ?? []).map(({ text }, row) => {
    const lines = others
      .map(({ cells, title }) => ({ title, cell: cells[row] }))
      .filter(({ cell }) => cell !== undefined && cell.text !== '')
      .flatMap(({ cell, title }) => {
        const parts = wrap(cell?.text ?? '', Math.max(1, width - titles - 2 * GAP));
        return parts.map((part, index) => {
          const shown = cell?.style ? paint(cell.style, part) : part;
          return `  ${(index === 0 ? title : '').padEnd(titles)}  ${shown}`;
        });
      });
    return [paint('bold', text), ...lines].join('\n');
  });
  return rows.join('\n');
}
