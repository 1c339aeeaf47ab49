import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import { type ComponentProps, useMemo, useRef } from 'react';
import { rowsOf } from '../../lib/api/pages.ts';
import { ErrorNotice } from '../layout/error-notice.tsx';
import { Panel } from '../layout/panel.tsx';
import { Skeleton } from '../layout/skeleton.tsx';
import { DataTable } from './data-table.tsx';

interface EndlessTableProps<Row> extends Omit<ComponentProps<typeof DataTable<Row>>, 'rows' | 'onEnd'> {
  list: UseInfiniteQueryResult<InfiniteData<{ resources: readonly Row[] }>>;
  /** Lines and height of the skeleton, in the shape of what comes. */
  lines: number;
  height: number;
}

/** A table of a collection that comes page by page, the next when the end of the last is in sight. */
export function EndlessTable<Row>({ height, lines, list, rowId, ...table }: EndlessTableProps<Row>) {
  const identify = useRef(rowId);
  identify.current = rowId;
  const rows = useMemo(() => rowsOf(list.data?.pages ?? [], (row) => identify.current(row)), [list.data]);
  return (
    <Panel flush>
      {list.isError && (
        <div className="p-3">
          <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />
        </div>
      )}
      {list.isPending && <Skeleton lines={lines} height={height} />}
      {list.data !== undefined && (
        <DataTable
          {...table}
          rows={rows}
          rowId={rowId}
          onEnd={() => {
            if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage();
          }}
        />
      )}
    </Panel>
  );
}
