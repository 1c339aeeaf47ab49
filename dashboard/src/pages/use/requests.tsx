import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Outlet, useParams } from '@tanstack/react-router';
import { ScrollText, SlidersHorizontal } from 'lucide-react';
import { useCallback, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../components/controls/button.tsx';
import { FilterBox } from '../../components/controls/filter-box.tsx';
import { TimeRangePicker } from '../../components/controls/time-range.tsx';
import { classNames } from '../../components/layout/class-names.ts';
import { EmptyState } from '../../components/layout/empty-state.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { Panel } from '../../components/layout/panel.tsx';
import { QueryState } from '../../components/layout/query-state.tsx';
import { EndlessTable } from '../../components/tables/endless-table.tsx';
import { keyNamesQuery } from '../../features/keys/queries.ts';
import { FilterChips } from '../../features/requests/chips.tsx';
import { requestColumns } from '../../features/requests/columns.tsx';
import { Facets } from '../../features/requests/facets.tsx';
import { Histogram } from '../../features/requests/histogram.tsx';
import { countsQuery, type Request, requestsQuery } from '../../features/requests/queries.ts';
import { RunningRequests } from '../../features/requests/running.tsx';
import { RunsTable } from '../../features/requests/runs-table.tsx';
import { type RequestsSearch, requestsSearch, views } from '../../features/requests/search.ts';
import { SavedViews } from '../../features/views/saved-views.tsx';
import { useApi } from '../../lib/api/client.ts';
import { useLiveEvents } from '../../lib/live.ts';
import { searchOfSort, sortOf } from '../../lib/sort-search.ts';

const route = getRouteApi('/requests');
const noNames: ReadonlyMap<string, string> = new Map();
const HISTOGRAM_HEIGHT = 132;

/** Client requests: running and finished, live, filtered, each with its detail in a sheet that has an address of its own. */
export function RequestsPage() {
  const { t } = useTranslation('requests');
  const api = useApi();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { requestId } = useParams({ strict: false });
  const queries = useQueryClient();
  // The start of the range stays while the page is open, so that pages of the list fit together.
  const now = useMemo(() => Date.now(), []);
  const byRun = search.group === 'run';
  const list = useInfiniteQuery({ ...requestsQuery(api, search, now), enabled: !byRun });
  const counts = useQuery(countsQuery(api, search, now));
  const names = useQuery(keyNamesQuery(api)).data ?? noNames;
  const [arrived, setArrived] = useState(0);
  const [showsFacets, setShowsFacets] = useState(false);
  useLiveEvents<Request>(
    'requests',
    useCallback(() => {
      setArrived((count) => count + 1);
      void queries.invalidateQueries({ queryKey: ['running-requests'] });
    }, [queries]),
  );
  const change = useCallback(
    (next: Partial<RequestsSearch>) =>
      void navigate({ search: (before: RequestsSearch) => ({ ...before, ...next }), replace: true }),
    [navigate],
  );
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
            onChange={(range) =>
              change({ range: range === '24h' ? undefined : range, from: undefined, to: undefined })
            }
          />
        }
      />
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <fieldset aria-label={t('views')} className="flex flex-wrap gap-1">
          {views.map((view) => (
            <Chip
              key={view}
              chosen={!byRun && (search.view ?? 'all') === view}
              onClick={() => change({ view: view === 'all' ? undefined : view, group: undefined })}
            >
              {t(`view.${view}`)}
            </Chip>
          ))}
          <Chip chosen={byRun} onClick={() => change({ group: byRun ? undefined : 'run', view: undefined })}>
            {t('view.runs')}
          </Chip>
        </fieldset>
        <SavedViews
          page="requests"
          isWanted={requestId === undefined}
          search={search}
          onOpen={(view) => void navigate({ search: requestsSearch(view) })}
        />
        <FilterBox
          label={t('filter')}
          value={search.q ?? ''}
          onChange={(q) => change({ q: q === '' ? undefined : q })}
        />
        <Button
          icon={SlidersHorizontal}
          className="xl:hidden"
          aria-expanded={showsFacets}
          onClick={() => setShowsFacets(!showsFacets)}
        >
          {t('facets')}
        </Button>
        <FilterChips search={search} names={names} onChange={change} />
        <span className="ms-auto text-muted text-sm">
          {!byRun && total !== null && t('count', { count: total })}
        </span>
      </div>
      <div className="grid gap-3 xl:grid-cols-[10.5rem_minmax(0,1fr)]">
        <aside aria-label={t('facets')} className={classNames(!showsFacets && 'max-xl:hidden')}>
          {counts.data !== undefined && (
            <Facets counts={counts.data.resources} search={search} onChange={change} />
          )}
        </aside>
        <div className="min-w-0">
          <Panel className="mb-3">
            <QueryState query={counts} lines={3} height={HISTOGRAM_HEIGHT}>
              {({ resources }) => (
                <div style={{ minHeight: HISTOGRAM_HEIGHT }}>
                  <Histogram counts={resources} onZoom={(from, to) => change({ from, to })} />
                </div>
              )}
            </QueryState>
          </Panel>
          <RunningRequests />
          {arrived > 0 && (
            <Button className="mb-3 w-full" variant="quiet" onClick={showArrived}>
              {t('arrived', { count: arrived })}
            </Button>
          )}
          {byRun ? (
            <RunsTable
              search={search}
              now={now}
              onOpen={(session) => change({ session, group: undefined })}
            />
          ) : (
            <EndlessTable
              list={list}
              rowId={({ id }) => id}
              lines={10}
              height={420}
              label={t('title')}
              columns={columns}
              sort={sortOf(search)}
              sortedByServer
              onSort={(sort) => change({ sort: undefined, order: undefined, ...searchOfSort(sort) })}
              onOpen={({ id }) => open(id)}
              openId={requestId ?? null}
              empty={
                <EmptyState icon={ScrollText} title={t('empty.title')}>
                  {t('empty.next')}
                </EmptyState>
              }
            />
          )}
        </div>
      </div>
      <Outlet />
    </>
  );
}

function Chip({ chosen, onClick, children }: { chosen: boolean; onClick(): void; children: string }) {
  return (
    <button
      type="button"
      aria-pressed={chosen}
      onClick={onClick}
      className={classNames(
        'min-h-8 rounded-full border px-3 text-sm',
        chosen ? 'border-accent bg-accent-soft text-accent' : 'border-line bg-panel hover:bg-sunken',
      )}
    >
      {children}
    </button>
  );
}
