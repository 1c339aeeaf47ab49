import { useInfiniteQuery } from '@tanstack/react-query';
import { Workflow } from 'lucide-react';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { EmptyState } from '../../components/layout/empty-state.tsx';
import { EndlessTable } from '../../components/tables/endless-table.tsx';
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
  return (
    <EndlessTable
      list={list}
      lines={10}
      height={420}
      label={t('view.runs')}
      columns={columns}
      rowId={({ id, key_id }) => `${id} ${key_id}`}
      sort={null}
      sortedByServer
      onSort={() => {}}
      onOpen={({ id }) => onOpen(id)}
      empty={
        <EmptyState icon={Workflow} title={t('run.none')}>
          {t('run.next')}
        </EmptyState>
      }
    />
  );
}
