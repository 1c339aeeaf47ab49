import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { useNotify } from '../../components/dialogs/toasts.tsx';
import { QueryState } from '../../components/layout/query-state.tsx';
import { useApi } from '../../lib/api/client.ts';
import type { Service } from './queries.ts';

export type DisruptiveAction = 'stop' | 'restart';

/** What the gateway says a stop would come to. */
interface Preview {
  result: { open_requests: number | null; dependents: string[]; confirm: string | null };
}

/** Asks before a service is stopped or restarted, with who would notice. */
export function StopDialog({
  action,
  onClose,
  service,
}: {
  action: DisruptiveAction;
  onClose(): void;
  service: Service;
}) {
  const { t } = useTranslation('services');
  const api = useApi();
  const queries = useQueryClient();
  const notify = useNotify();
  const path = `services/${encodeURIComponent(service.id)}`;
  const preview = useQuery({
    queryKey: ['services', service.id, 'preview', action],
    queryFn: () => api.post<Preview>(path, { action }, { query: { dry_run: true } }),
    gcTime: 0,
  });
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={t(`${action}.title`, { name: service.name })}
      confirm={t(`action.${action}`)}
      onConfirm={async () => {
        const confirm = preview.data?.result.confirm ?? null;
        const { message } = await api.post<{ message: string }>(path, {
          action,
          ...(confirm === null ? {} : { confirm }),
        });
        notify(message);
        await queries.invalidateQueries({ queryKey: ['services'] });
      }}
    >
      <p>{t(service.id === 'dashboard' && action === 'stop' ? 'stop.dashboard' : `${action}.what`)}</p>
      <QueryState query={preview} lines={1}>
        {({ result: { dependents, open_requests } }) => (
          <ul className="mt-2 list-disc ps-5">
            {open_requests !== null && <li>{t('stop.openRequests', { count: open_requests })}</li>}
            {dependents.length > 0 && <li>{t('stop.dependents', { names: dependents.join(', ') })}</li>}
          </ul>
        )}
      </QueryState>
    </ConfirmDialog>
  );
}
