import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import { type ComponentProps, useMemo } from 'react';
import { ErrorNotice } from '../layout/error-notice.tsx';
import { Panel } from '../layout/panel.tsx';
import { Skeleton } from '../layout/skeleton.tsx';
import { DataTable } from './data-table.tsx';

interface EndlessTableProps<Row>
  extends Omit<ComponentProps<typeof DataTable<Row>>, 'rows' | 'rowId' | 'onEnd'> {
  list: UseInfiniteQueryResult<InfiniteData<{ resources: readonly Row[] }>>;
  /** Lines and height of the skeleton, in the shape of what comes. */
  lines: number;
  height: number;
}

/** A table of a collection that comes page by page, the next when the end of the last is in sight. */
export function EndlessTable<Row extends { id: string }>({
  height,
  lines,
  list,
  ...table
}: EndlessTableProps<Row>) {
  const rows = useMemo(() => list.data?.pages.flatMap(({ resources }) => resources) ?? [], [list.data]);
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
          rowId={({ id }) => id}
          onEnd={() => {
            if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage();
          }}
        />
      )}
    </Panel>
  );
}
