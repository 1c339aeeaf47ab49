import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useCallback, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Duration, Money, RelativeTime } from '../../components/figures/amounts.tsx';
import { StatusBadge } from '../../components/figures/status-badge.tsx';
import { EmptyState } from '../../components/layout/empty-state.tsx';
import { QueryState } from '../../components/layout/query-state.tsx';
import { type Page, useApi } from '../../lib/api/client.ts';
import { useLiveEvents } from '../../lib/live.ts';
import { LATEST, latestKey, latestQuery, type Request } from './queries.ts';

/** The last requests as they finish; each leads to its detail. */
export function LatestRequests() {
  const { t } = useTranslation('overview');
  const api = useApi();
  const queries = useQueryClient();
  const query = useQuery(latestQuery(api));
  // Beside the list, which may be on its way without them: the ledger has a request a moment after the event.
  const [arrived, setArrived] = useState<readonly Request[]>([]);
  useLiveEvents<Request>(
    'requests',
    useCallback(
      (request) => {
        setArrived((before) => [request, ...before.filter(({ id }) => id !== request.id)].slice(0, LATEST));
        queries.setQueryData<Page<Request>>(latestKey, (page) =>
          page === undefined ? undefined : { ...page, count: page.count + 1 },
        );
      },
      [queries],
    ),
  );
  return (
    <QueryState query={query} lines={LATEST} height={LATEST * 37}>
      {({ resources }) => {
        const shown = withArrived(arrived, resources);
        return shown.length === 0 ? (
          <EmptyState title={t('latest.none')}>{t('latest.next')}</EmptyState>
        ) : (
          <ul>
            {shown.map((request) => (
              <li key={request.id} className="border-line border-b last:border-b-0">
                <Link
                  to="/requests/$requestId"
                  params={{ requestId: request.id }}
                  className="flex min-h-9 items-center gap-3 px-4 py-1 hover:bg-sunken"
                >
                  <StatusBadge
                    tone={request.outcome === 'ok' ? 'ok' : request.outcome === 'failed' ? 'bad' : 'warn'}
                  >
                    {request.status}
                  </StatusBadge>
                  <span className="min-w-0 flex-1 truncate">{request.requested_model ?? '–'}</span>
                  <span className="text-muted max-sm:hidden">{request.connection}</span>
                  <Money value={request.cost_usd} />
                  <span className="w-16 text-end max-sm:hidden">
                    <Duration value={request.duration_ms} />
                  </span>
                  <span className="w-24 text-end text-muted text-xs">
                    <RelativeTime at={request.started_at} />
                  </span>
                </Link>
              </li>
            ))}
          </ul>
        );
      }}
    </QueryState>
  );
}

/** The latest first, as the list has them, each once. */
function withArrived(arrived: readonly Request[], listed: readonly Request[]): readonly Request[] {
  const known = new Set(listed.map(({ id }) => id));
  return [...arrived.filter(({ id }) => !known.has(id)), ...listed]
    .toSorted((a, b) => Date.parse(b.started_at) - Date.parse(a.started_at))
    .slice(0, LATEST);
}
