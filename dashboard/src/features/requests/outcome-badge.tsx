import { useTranslation } from 'react-i18next';
import { StatusBadge } from '../../components/figures/status-badge.tsx';
import type { Request } from './queries.ts';

const tones = { ok: 'ok', failed: 'bad', aborted: 'warn' } as const;

/** How a request ended: the status that the client saw, in color and with an icon. */
export function OutcomeBadge({ request }: { request: Pick<Request, 'outcome' | 'status' | 'error'> }) {
  const { t } = useTranslation();
  const { error, outcome, status } = request;
  return (
    <StatusBadge tone={tones[outcome]} title={error?.message ?? undefined}>
      {outcome === 'aborted' ? t('outcome.aborted') : status}
    </StatusBadge>
  );
}
