import type { UseQueryResult } from '@tanstack/react-query';
import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Page } from '../../lib/api/client.ts';
import { type SortSearch, searchOfSort, sortOf } from '../../lib/sort-search.ts';
import { FilterBox } from '../controls/filter-box.tsx';
import { type Column, DataTable } from '../tables/data-table.tsx';
import { EmptyState } from './empty-state.tsx';
import { PageHeader } from './page-header.tsx';
import { Panel } from './panel.tsx';
import { QueryState } from './query-state.tsx';

interface ListPageProps<Row> {
  title: string;
  subtitle: string;
  actions?: ReactNode;
  /** Between the head of the page and its table. */
  intro?: ReactNode;
  /** The collection; its rows are filtered and ordered in the browser. */
  query: UseQueryResult<Page<Row>>;
  /** Lines and height of the skeleton, in the shape of what comes. */
  lines: number;
  height?: number;
  columns: readonly Column<Row>[];
  /** What the page's address carries: the filter and the order. */
  search: SortSearch;
  onSearch(change: Partial<SortSearch>): void;
  /** The text that is searched in, and what it is, as `Name or provider`; absent where there is no filter. */
  filter?: { label: string; textOf(row: Row): string };
  /** Other controls of what is shown, before the filter. */
  controls?: ReactNode;
  /** Whether a row is shown at all, as the text is filtered for. */
  shows?(row: Row, text: string): boolean;
  onOpen?(row: Row): void;
  openId?: string | null;
  /** What stands in the place of no rows: with `next`, what to do about it. */
  empty: { icon: LucideIcon; title: string; next?: string; filtered?: string } | null;
  /** Below the table, and dialogs. */
  children?: ReactNode;
}

/** A page of one collection: its head, a filter, and a table, whose filter and order stand in the address. */
export function ListPage<Row extends { id: string }>(props: ListPageProps<Row>) {
  const { columns, controls, empty, filter, height, lines, onOpen, onSearch, openId, query, search } = props;
  const { actions, children, intro, shows = () => true, subtitle, title } = props;
  const text = (search.q ?? '').toLowerCase();
  const fits = (row: Row) => (filter?.textOf(row).toLowerCase().includes(text) ?? true) && shows(row, text);
  return (
    <>
      <PageHeader title={title} subtitle={subtitle} actions={actions} />
      {intro}
      {(filter !== undefined || controls !== undefined) && (
        <div className="mb-3 flex flex-wrap items-center gap-2">
          {controls}
          {filter !== undefined && (
            <FilterBox
              label={filter.label}
              value={search.q ?? ''}
              onChange={(q) => onSearch({ q: q === '' ? undefined : q })}
            />
          )}
        </div>
      )}
      <Panel flush>
        <QueryState query={query} lines={lines} {...(height === undefined ? {} : { height })}>
          {({ resources }) => (
            <DataTable
              label={title}
              columns={columns}
              rows={resources.filter(fits)}
              rowId={({ id }) => id}
              sort={sortOf(search)}
              onSort={(sort) => onSearch({ sort: undefined, order: undefined, ...searchOfSort(sort) })}
              {...(onOpen === undefined ? {} : { onOpen })}
              {...(openId === undefined ? {} : { openId })}
              empty={
                empty !== null && (
                  <EmptyState
                    icon={empty.icon}
                    title={text === '' ? empty.title : (empty.filtered ?? empty.title)}
                  >
                    {text === '' && empty.next}
                  </EmptyState>
                )
              }
            />
          )}
        </QueryState>
      </Panel>
      {children}
    </>
  );
}
