import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Outlet, useParams } from '@tanstack/react-router';
import { Server } from 'lucide-react';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '../components/data-table.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { FilterBox } from '../components/filter-box.tsx';
import { PageHeader } from '../components/page-header.tsx';
import { Panel } from '../components/panel.tsx';
import { QueryState } from '../components/query-state.tsx';
import { ViewButtons } from '../components/view-buttons.tsx';
import { serviceColumns } from '../features/services/columns.tsx';
import { type Service, servicesQuery } from '../features/services/queries.ts';
import { type ServicesSearch, type ServiceView, serviceViews } from '../features/services/search.ts';
import { problemOf } from '../features/services/service-state.tsx';
import { useApi } from '../lib/api/client.ts';
import { searchOfSort, sortOf } from '../lib/sort-search.ts';

const route = getRouteApi('/services');

const fits: Readonly<Record<ServiceView, (service: Service) => boolean>> = {
  all: () => true,
  parts: ({ kind }) => kind !== 'provider_connection',
  connections: ({ kind }) => kind === 'provider_connection',
  failing: (service) => problemOf(service) !== null && service.desired_state === 'running',
};

/** The parts of the running gateway: how they are since when, and starting and stopping them. */
export function ServicesPage() {
  const { t } = useTranslation('services');
  const api = useApi();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { serviceId } = useParams({ strict: false });
  const services = useQuery(servicesQuery(api));
  const columns = useMemo(() => serviceColumns(t), [t]);
  const view = search.view ?? 'all';
  const wanted = (search.q ?? '').toLowerCase();
  const change = (next: Partial<ServicesSearch>) =>
    void navigate({ search: (before: ServicesSearch) => ({ ...before, ...next }), replace: true });
  return (
    <>
      <PageHeader title={t('title')} subtitle={t('subtitle')} />
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <ViewButtons
          label={t('views')}
          value={view}
          views={serviceViews.map((name) => ({ value: name, label: t(`view.${name}`) }))}
          onChange={(name) => change({ view: name === 'all' ? undefined : name })}
        />
        <FilterBox
          label={t('filter')}
          value={search.q ?? ''}
          onChange={(q) => change({ q: q === '' ? undefined : q })}
        />
      </div>
      <Panel flush>
        <QueryState query={services} lines={8} height={340}>
          {({ resources }) => (
            <DataTable
              label={t('title')}
              columns={columns}
              rows={resources.filter(
                (service) => fits[view](service) && service.name.toLowerCase().includes(wanted),
              )}
              rowId={({ id }) => id}
              sort={sortOf(search)}
              onSort={(sort) => change({ sort: undefined, order: undefined, ...searchOfSort(sort) })}
              onOpen={({ id }) =>
                void navigate({
                  to: '/services/$serviceId',
                  params: { serviceId: id },
                  search: (before) => before,
                })
              }
              openId={serviceId ?? null}
              empty={
                <EmptyState
                  icon={Server}
                  title={t(view === 'failing' ? 'empty.healthy' : 'empty.filtered')}
                />
              }
            />
          )}
        </QueryState>
      </Panel>
      <Outlet />
    </>
  );
}
