import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Outlet, useParams } from '@tanstack/react-router';
import { Server } from 'lucide-react';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { ViewButtons } from '../../components/controls/view-buttons.tsx';
import { ListPage } from '../../components/layout/list-page.tsx';
import { serviceColumns } from '../../features/services/columns.tsx';
import { type Service, servicesQuery } from '../../features/services/queries.ts';
import { type ServicesSearch, type ServiceView, serviceViews } from '../../features/services/search.ts';
import { problemOf } from '../../features/services/service-state.tsx';
import { useApi } from '../../lib/api/client.ts';

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
  const change = (next: Partial<ServicesSearch>) =>
    void navigate({ search: (before: ServicesSearch) => ({ ...before, ...next }), replace: true });
  return (
    <ListPage
      title={t('title')}
      subtitle={t('subtitle')}
      controls={
        <ViewButtons
          label={t('views')}
          value={view}
          views={serviceViews.map((name) => ({ value: name, label: t(`view.${name}`) }))}
          onChange={(name) => change({ view: name === 'all' ? undefined : name })}
        />
      }
      query={services}
      lines={8}
      height={340}
      columns={columns}
      search={search}
      onSearch={change}
      filter={{ label: t('filter'), textOf: ({ name }) => name }}
      shows={fits[view]}
      onOpen={({ id }) =>
        void navigate({
          to: '/services/$serviceId',
          params: { serviceId: id },
          search: (before) => before,
        })
      }
      openId={serviceId ?? null}
      empty={{ icon: Server, title: t(view === 'failing' ? 'empty.healthy' : 'empty.filtered') }}
    >
      <Outlet />
    </ListPage>
  );
}
