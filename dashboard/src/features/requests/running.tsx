import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Duration } from '../../components/figures/amounts.tsx';
import { StatusBadge } from '../../components/figures/status-badge.tsx';
import { Panel } from '../../components/layout/panel.tsx';
import { useApi } from '../../lib/api/client.ts';
import { type Running, runningQuery } from './queries.ts';

const TICK_MS = 1_000;

/** The requests that are not answered yet, with the time that goes by. Nothing where there is none. */
export function RunningRequests() {
  const { t } = useTranslation('requests');
  const { data, dataUpdatedAt } = useQuery(runningQuery(useApi()));
  const running = data?.resources ?? [];
  const since = useSince(dataUpdatedAt, running.length > 0);
  if (running.length === 0) return null;
  return (
    <Panel title={t('running.title', { count: data?.count ?? running.length })} flush className="mb-3">
      <ul className="max-h-60 overflow-y-auto">
        {running.map((request) => (
          <li
            key={request.id}
            className="flex min-h-10 items-center gap-3 border-line border-b px-4 text-sm last:border-b-0"
          >
            <StatusBadge tone="pending">{t(`running.${request.state}`)}</StatusBadge>
            <span className="min-w-0 flex-1 truncate">
              {request.requested_model ?? '–'} <Where request={request} />
            </span>
            <span className="truncate text-muted max-sm:hidden">{request.key_name}</span>
            <span className="w-20 text-end">
              <Duration value={request.elapsed_ms + since} />
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Where({ request: { attempts, connection, model } }: { request: Running }) {
  const { t } = useTranslation('requests');
  return (
    <span className="text-muted">
      → {connection}/{model}
      {attempts > 1 && ` · ${t('running.attempt', { number: attempts })}`}
    </span>
  );
}

/** Milliseconds since a time, which goes on every second while it is looked at. */
function useSince(at: number, active: boolean): number {
  const [now, setNow] = useState(at);
  useEffect(() => {
    if (!active) return;
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, [active]);
  return Math.max(0, now - at);
}
