import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown, ArrowUp, Columns3 } from 'lucide-react';
import { type KeyboardEvent, memo, type ReactNode, useCallback, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { IconButton } from '../controls/button.tsx';
import { Menu } from '../controls/menu.tsx';
import { classNames } from '../layout/class-names.ts';

export interface Column<Row> {
  /** As the address and the API name it. */
  id: string;
  header: string;
  cell(row: Row): ReactNode;
  /** By what rows are ordered in the browser; absent where they cannot be. Null comes last. */
  sortBy?(row: Row): string | number | null;
  align?: 'end';
  /** CSS width; the rest is shared. */
  width?: string;
  /** Shown on narrow screens too; others are hidden there. The first column always is. */
  narrow?: boolean;
  /** Hidden until somebody chooses it. */
  hidden?: boolean;
  /** What all rows come to, in a last row that stays in sight. */
  footer?: ReactNode;
}

export interface Sort {
  by: string;
  descending: boolean;
}

interface DataTableProps<Row> {
  /** What the rows are, for readers of the screen. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowId(row: Row): string;
  /** Null: as the rows come. */
  sort: Sort | null;
  onSort(sort: Sort | null): void;
  /** Whether the rows come in that order already. */
  sortedByServer?: boolean;
  /** Opens a row, by a click or Enter. */
  onOpen?(row: Row): void;
  /** The row that is open. */
  openId?: string | null;
  /** Shown where there are no rows: what would be here and the next step. */
  empty: ReactNode;
  /** Highest height of the rows; longer ones scroll within, and only those in sight are drawn. */
  maxHeight?: string;
  /** Draws the next page of rows, when the end comes in sight. */
  onEnd?(): void;
}

const ROW_HEIGHT = 41;
/** Beyond it only rows in sight are drawn. */
const MANY = 60;

/** A table: sorted by its heads, opened by keyboard (arrows, Home, End, Enter), columns to choose, long ones drawn in part. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const {
    columns,
    empty,
    label,
    maxHeight = '70vh',
    onEnd,
    onOpen,
    onSort,
    openId = null,
    rowId,
    rows,
    sort,
  } = props;
  const { t } = useTranslation();
  const [chosen, setChosen] = useState<ReadonlySet<string> | null>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const visible = useMemo(
    () => columns.filter(({ id, hidden }) => (chosen === null ? hidden !== true : chosen.has(id))),
    [columns, chosen],
  );
  // The same for each row while the page is drawn anew, so that rows which stay are not.
  const opening = useRef(onOpen);
  opening.current = onOpen;
  const open = useCallback((row: Row) => opening.current?.(row), []);
  const ordered = useMemo(
    () => (props.sortedByServer === true ? rows : sorted(rows, columns, sort)),
    [rows, columns, sort, props.sortedByServer],
  );
  const virtual = useVirtualizer({
    count: ordered.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    // Few, for all of them are drawn at once where somebody scrolls far.
    overscan: 4,
    enabled: ordered.length > MANY,
  });
  if (rows.length === 0) return <>{empty}</>;

  const toggle = (id: string) => {
    const next = new Set(visible.map((column) => column.id));
    if (!next.delete(id)) next.add(id);
    if (next.size > 0) setChosen(next);
  };
  const items = virtual.getVirtualItems();
  const long = ordered.length > MANY;
  const shown = long ? items.map(({ index }) => index) : ordered.map((_, index) => index);
  const before = long ? (items[0]?.start ?? 0) : 0;
  const after = long ? virtual.getTotalSize() - (items.at(-1)?.end ?? 0) : 0;
  const onScroll = () => {
    const area = scroller.current;
    if (area !== null && area.scrollHeight - area.scrollTop - area.clientHeight < 400) onEnd?.();
  };
  return (
    <div className="relative">
      <div
        ref={scroller}
        onScroll={onEnd === undefined ? undefined : onScroll}
        style={{ maxHeight }}
        className="overflow-auto"
      >
        <table
          className="w-full border-separate border-spacing-0 text-sm"
          aria-label={label}
          aria-rowcount={rows.length}
        >
          <thead>
            <tr>
              {visible.map((column, index) => (
                <th
                  key={column.id}
                  scope="col"
                  style={{ width: column.width }}
                  aria-sort={ariaSort(sort, column.id)}
                  className={classNames(
                    'sticky top-0 z-10 h-9 border-line border-b bg-panel px-3 font-medium text-muted text-xs whitespace-nowrap',
                    column.align === 'end' ? 'text-end' : 'text-start',
                    index > 0 && column.narrow !== true && 'max-sm:hidden',
                    // Room for the button that chooses the columns.
                    index === visible.length - 1 && 'sm:pe-11',
                  )}
                >
                  {column.sortBy === undefined ? (
                    column.header
                  ) : (
                    <button
                      type="button"
                      className="inline-flex items-center gap-1 hover:text-text"
                      onClick={() => onSort(nextSort(sort, column.id))}
                    >
                      {column.header}
                      {sort?.by === column.id &&
                        (sort.descending ? (
                          <ArrowDown size={13} aria-hidden />
                        ) : (
                          <ArrowUp size={13} aria-hidden />
                        ))}
                    </button>
                  )}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {before > 0 && <tr style={{ height: before }} />}
            {shown.map((index) => {
              const row = ordered[index];
              if (row === undefined) return null;
              const id = rowId(row);
              return (
                <TableRow
                  key={id}
                  row={row}
                  index={index}
                  columns={visible}
                  selected={openId === null ? null : id === openId}
                  onOpen={onOpen === undefined ? undefined : open}
                />
              );
            })}
            {after > 0 && <tr style={{ height: after }} />}
          </tbody>
          {visible.some(({ footer }) => footer !== undefined) && (
            <tfoot>
              <tr>
                {visible.map((column, index) => (
                  <td
                    key={column.id}
                    className={classNames(
                      'sticky bottom-0 z-10 h-10 border-line border-t bg-panel px-3 font-semibold',
                      column.align === 'end' && 'nums text-end',
                      index > 0 && column.narrow !== true && 'max-sm:hidden',
                    )}
                  >
                    {column.footer}
                  </td>
                ))}
              </tr>
            </tfoot>
          )}
        </table>
      </div>
      <div className="absolute end-1 top-0.5 z-20 bg-panel max-sm:hidden">
        <Menu
          label={t('table.columns')}
          trigger={<IconButton icon={Columns3} label={t('table.columns')} />}
          items={columns.map(({ id, header }) => ({
            key: id,
            label: header,
            selected: visible.some((column) => column.id === id),
            onSelect: () => toggle(id),
          }))}
        />
      </div>
    </div>
  );
}

interface TableRowProps<Row> {
  row: Row;
  index: number;
  columns: readonly Column<Row>[];
  /** Null where no row is. */
  selected: boolean | null;
  onOpen: ((row: Row) => void) | undefined;
}

function PlainRow<Row>({ columns, index, onOpen, row, selected }: TableRowProps<Row>) {
  return (
    <tr
      aria-rowindex={index + 1}
      aria-selected={selected ?? undefined}
      tabIndex={onOpen === undefined ? undefined : 0}
      onClick={onOpen === undefined ? undefined : (event) => !fromControl(event.target) && onOpen(row)}
      onKeyDown={onOpen === undefined ? undefined : (event) => onRowKey(event, () => onOpen(row))}
      className={classNames(
        'h-10 outline-offset-[-2px]',
        onOpen !== undefined && 'cursor-pointer hover:bg-sunken',
        selected === true && 'bg-accent-soft',
      )}
    >
      {columns.map((column, position) => (
        <td
          key={column.id}
          className={classNames(
            'max-w-80 truncate border-line border-b px-3',
            column.align === 'end' && 'nums text-end',
            position > 0 && column.narrow !== true && 'max-sm:hidden',
          )}
        >
          {column.cell(row)}
        </td>
      ))}
    </tr>
  );
}

/** A row is drawn again only where it is another, or its columns are. */
const TableRow = memo(PlainRow) as typeof PlainRow;

function ariaSort(sort: Sort | null, id: string): 'ascending' | 'descending' | undefined {
  if (sort?.by !== id) return undefined;
  return sort.descending ? 'descending' : 'ascending';
}

/** Down, up, as it came. */
function nextSort(sort: Sort | null, id: string): Sort | null {
  if (sort?.by !== id) return { by: id, descending: true };
  return sort.descending ? { by: id, descending: false } : null;
}

function sorted<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  sort: Sort | null,
): readonly Row[] {
  const by = columns.find(({ id }) => id === sort?.by)?.sortBy;
  if (sort === null || by === undefined) return rows;
  const sign = sort.descending ? -1 : 1;
  return [...rows].sort((left, right) => {
    const [a, b] = [by(left), by(right)];
    if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
    if (typeof a === 'string' && typeof b === 'string') return sign * a.localeCompare(b);
    return sign * (Number(a) - Number(b));
  });
}

/** Whether a click was meant for a link or button within the row. */
function fromControl(target: EventTarget): boolean {
  return target instanceof Element && target.closest('a, button, input, select, label') !== null;
}

function onRowKey(event: KeyboardEvent<HTMLTableRowElement>, open: () => void): void {
  if (event.target !== event.currentTarget) return;
  const row = event.currentTarget;
  const to = (sibling: Element | null | undefined) => {
    event.preventDefault();
    if (sibling instanceof HTMLElement) sibling.focus();
  };
  switch (event.key) {
    case 'Enter':
      event.preventDefault();
      open();
      break;
    case 'ArrowDown':
      to(row.nextElementSibling);
      break;
    case 'ArrowUp':
      to(row.previousElementSibling);
      break;
    case 'Home':
      to(row.parentElement?.querySelector('tr[tabindex]'));
      break;
    case 'End':
      to([...(row.parentElement?.querySelectorAll('tr[tabindex]') ?? [])].at(-1));
      break;
    default:
  }
}
