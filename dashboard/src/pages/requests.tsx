import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Outlet, useParams } from '@tanstack/react-router';
import { ScrollText } from 'lucide-react';
import { useCallback, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../components/button.tsx';
import { classNames } from '../components/class-names.ts';
import { DataTable } from '../components/data-table.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { ErrorNotice } from '../components/error-notice.tsx';
import { FilterBox } from '../components/filter-box.tsx';
import { PageHeader } from '../components/page-header.tsx';
import { Panel } from '../components/panel.tsx';
import { Skeleton } from '../components/skeleton.tsx';
import { TimeRangePicker } from '../components/time-range.tsx';
import { keyNamesQuery } from '../features/keys/queries.ts';
import { requestColumns } from '../features/requests/columns.tsx';
import { type Request, requestsQuery } from '../features/requests/queries.ts';
import { type RequestsSearch, views } from '../features/requests/search.ts';
import { useApi } from '../lib/api/client.ts';
import { useLiveEvents } from '../lib/live.ts';
import { searchOfSort, sortOf } from '../lib/sort-search.ts';

const route = getRouteApi('/requests');
const noNames: ReadonlyMap<string, string> = new Map();

/** Finished requests: live, filtered, each with its detail in a sheet that has an address of its own. */
export function RequestsPage() {
  const { t } = useTranslation('requests');
  const api = useApi();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { requestId } = useParams({ strict: false });
  const queries = useQueryClient();
  // The start of the range stays while the page is open, so that pages of the list fit together.
  const now = useMemo(() => Date.now(), []);
  const list = useInfiniteQuery(requestsQuery(api, search, now));
  const names = useQuery(keyNamesQuery(api)).data ?? noNames;
  const [arrived, setArrived] = useState(0);
  useLiveEvents<Request>(
    'requests',
    useCallback(() => setArrived((count) => count + 1), []),
  );
  const change = useCallback(
    (next: Partial<RequestsSearch>) =>
      void navigate({ search: (before: RequestsSearch) => ({ ...before, ...next }), replace: true }),
    [navigate],
  );
  const rows = useMemo(() => list.data?.pages.flatMap(({ resources }) => resources) ?? [], [list.data]);
  const columns = useMemo(() => requestColumns(t, names), [t, names]);
  const total = list.data?.pages[0]?.subquery_count ?? null;
  const open = (id: string) =>
    void navigate({ to: '/requests/$requestId', params: { requestId: id }, search: (before) => before });
  const showArrived = () => {
    setArrived(0);
    void queries.invalidateQueries({ queryKey: ['requests'] });
  };
  return (
    <>
      <PageHeader
        title={t('title')}
        subtitle={t('subtitle')}
        actions={
          <TimeRangePicker
            value={search.range ?? '24h'}
            onChange={(range) => change({ range: range === '24h' ? undefined : range })}
          />
        }
      />
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <fieldset aria-label={t('views')} className="flex flex-wrap gap-1">
          {views.map((view) => {
            const chosen = (search.view ?? 'all') === view;
            return (
              <button
                key={view}
                type="button"
                aria-pressed={chosen}
                onClick={() => change({ view: view === 'all' ? undefined : view })}
                className={classNames(
                  'min-h-8 rounded-full border px-3 text-sm',
                  chosen
                    ? 'border-accent bg-accent-soft text-accent'
                    : 'border-line bg-panel hover:bg-sunken',
                )}
              >
                {t(`view.${view}`)}
              </button>
            );
          })}
        </fieldset>
        <FilterBox
          label={t('filter')}
          value={search.q ?? ''}
          onChange={(q) => change({ q: q === '' ? undefined : q })}
        />
        {(['model', 'connection', 'key', 'status'] as const).map((name) =>
          search[name] === undefined ? null : (
            <Button key={name} onClick={() => change({ [name]: undefined })} title={t('removeFilter')}>
              {t(`column.${name}`)}:{' '}
              {name === 'key' ? (names.get(search.key ?? '') ?? search.key) : search[name]} ×
            </Button>
          ),
        )}
        <span className="ms-auto text-muted text-sm">{total !== null && t('count', { count: total })}</span>
      </div>
      {arrived > 0 && (
        <Button className="mb-3 w-full" variant="quiet" onClick={showArrived}>
          {t('arrived', { count: arrived })}
        </Button>
      )}
      <Panel flush>
        {list.isError && (
          <div className="p-3">
            <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />
          </div>
        )}
        {list.isPending && <Skeleton lines={10} height={420} />}
        {list.data !== undefined && (
          <DataTable
            label={t('title')}
            columns={columns}
            rows={rows}
            rowId={({ id }) => id}
            sort={sortOf(search)}
            sortedByServer
            onSort={(sort) => change({ sort: undefined, order: undefined, ...searchOfSort(sort) })}
            onOpen={({ id }) => open(id)}
            openId={requestId ?? null}
            onEnd={() => {
              if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage();
            }}
            empty={
              <EmptyState icon={ScrollText} title={t('empty.title')}>
                {t('empty.next')}
              </EmptyState>
            }
          />
        )}
      </Panel>
      <Outlet />
    </>
  );
}
