import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Sheet } from '../../components/dialogs/dialog.tsx';
import { QueryState } from '../../components/layout/query-state.tsx';
import { AuditDetail } from '../../features/audit/audit-detail.tsx';
import { auditRecordQuery } from '../../features/audit/queries.ts';
import { useApi } from '../../lib/api/client.ts';

const route = getRouteApi('/audit/$auditId');

/** One record of the audit log in a sheet beside the list. */
export function AuditRecordPage() {
  const api = useApi();
  const { auditId } = route.useParams();
  const navigate = route.useNavigate();
  const record = useQuery(auditRecordQuery(api, auditId));
  return (
    <Sheet
      open
      onClose={() => void navigate({ to: '/audit', search: (before) => before })}
      title={record.data?.action ?? auditId}
    >
      <QueryState query={record} lines={8}>
        {(data) => <AuditDetail record={data} />}
      </QueryState>
    </Sheet>
  );
}
