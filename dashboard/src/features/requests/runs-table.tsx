import { useInfiniteQuery } from '@tanstack/react-query';
import { Workflow } from 'lucide-react';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { EmptyState } from '../../components/layout/empty-state.tsx';
import { ErrorNotice } from '../../components/layout/error-notice.tsx';
import { Panel } from '../../components/layout/panel.tsx';
import { Skeleton } from '../../components/layout/skeleton.tsx';
import { DataTable } from '../../components/tables/data-table.tsx';
import { useApi } from '../../lib/api/client.ts';
import { runsQuery } from './queries.ts';
import { runColumns } from './run-columns.tsx';
import type { RequestsSearch } from './search.ts';

interface RunsTableProps {
  search: RequestsSearch;
  now: number;
  /** Shows the requests of one run. */
  onOpen(session: string): void;
}

/** The requests put together by the runs of tools, for tools that name their session. */
export function RunsTable({ now, onOpen, search }: RunsTableProps) {
  const { t } = useTranslation('requests');
  const list = useInfiniteQuery(runsQuery(useApi(), search, now));
  const columns = useMemo(() => runColumns(t), [t]);
  const rows = useMemo(() => list.data?.pages.flatMap(({ resources }) => resources) ?? [], [list.data]);
  return (
    <Panel flush>
      {list.isError && (
        <div className="p-3">
          <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />
        </div>
      )}
      {list.isPending && <Skeleton lines={10} height={420} />}
      {list.data !== undefined && (
        <DataTable
          label={t('view.runs')}
          columns={columns}
          rows={rows}
          rowId={({ id, key_id }) => `${id} ${key_id}`}
          sort={null}
          sortedByServer
          onSort={() => {}}
          onOpen={({ id }) => onOpen(id)}
          onEnd={() => {
            if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage();
          }}
          empty={
            <EmptyState icon={Workflow} title={t('run.none')}>
              {t('run.next')}
            </EmptyState>
          }
        />
      )}
    </Panel>
  );
}
