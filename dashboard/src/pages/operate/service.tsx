import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Sheet } from '../../components/dialogs/dialog.tsx';
import { QueryState } from '../../components/layout/query-state.tsx';
import { serviceQuery } from '../../features/services/queries.ts';
import { ServiceActions } from '../../features/services/service-actions.tsx';
import { ServiceDetail } from '../../features/services/service-detail.tsx';
import { useApi } from '../../lib/api/client.ts';

const route = getRouteApi('/services/$serviceId');

/** One service in a sheet beside the list. */
export function ServicePage() {
  const api = useApi();
  const { serviceId } = route.useParams();
  const navigate = route.useNavigate();
  const service = useQuery(serviceQuery(api, serviceId));
  return (
    <Sheet
      open
      onClose={() => void navigate({ to: '/services', search: (before) => before })}
      title={service.data?.name ?? serviceId}
      actions={service.data !== undefined && <ServiceActions row={service.data} />}
    >
      <QueryState query={service} lines={8}>
        {(data) => <ServiceDetail service={data} />}
      </QueryState>
    </Sheet>
  );
}
