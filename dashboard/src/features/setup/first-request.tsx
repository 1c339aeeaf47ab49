import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Loader } from 'lucide-react';
import { useCallback } from 'react';
import { useTranslation } from 'react-i18next';
import { buttonClass } from '../../components/controls/button.tsx';
import { Duration, Money } from '../../components/figures/amounts.tsx';
import { StatusBadge } from '../../components/figures/status-badge.tsx';
import { useApi } from '../../lib/api/client.ts';
import { useLiveEvents } from '../../lib/live.ts';
import { type Request, requestsSinceQuery } from './queries.ts';

/** The first request that was answered since `since`; null as long as there is none. */
export function useFirstRequest(since: string): { answered: Request | null; failed: Request | null } {
  const api = useApi();
  const queries = useQueryClient();
  const query = requestsSinceQuery(api, since);
  const requests = useQuery(query).data?.resources ?? [];
  const { queryKey } = query;
  useLiveEvents(
    'requests',
    useCallback(() => void queries.invalidateQueries({ queryKey }), [queries, queryKey]),
  );
  return {
    answered: requests.find(({ outcome }) => outcome === 'ok') ?? null,
    failed: requests.find(({ outcome }) => outcome !== 'ok') ?? null,
  };
}

interface FirstRequestProps {
  answered: Request | null;
  failed: Request | null;
}

/** Waits for the first request, and shows it when it was answered, or why it was not. */
export function FirstRequest({ answered, failed }: FirstRequestProps) {
  const { t } = useTranslation('setup');
  if (answered !== null)
    return (
      <div role="status" className="flex flex-col items-start gap-3">
        <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <StatusBadge tone="ok">{t('first.answered')}</StatusBadge>
          <span className="font-medium">{answered.model ?? answered.requested_model}</span>
          <Duration value={answered.duration_ms} />
          <Money value={answered.cost_usd} />
        </p>
        <div className="flex flex-wrap gap-2">
          <Link to="/" className={buttonClass('primary')}>
            {t('first.overview')}
          </Link>
          <Link
            to="/requests/$requestId"
            params={{ requestId: answered.id }}
            className={buttonClass('secondary')}
          >
            {t('first.detail')}
          </Link>
        </div>
      </div>
    );
  return (
    <div role="status">
      <p className="flex items-center gap-2 text-muted">
        <Loader size={16} className="animate-spin" aria-hidden />
        {t('first.waiting')}
      </p>
      {failed !== null && (
        <p className="mt-2 flex flex-wrap items-center gap-2">
          <StatusBadge tone="bad">{t('first.failed', { status: failed.status })}</StatusBadge>
          <Link to="/requests/$requestId" params={{ requestId: failed.id }} className="text-accent underline">
            {failed.error?.message ?? t('first.why')}
          </Link>
        </p>
      )}
    </div>
  );
}
