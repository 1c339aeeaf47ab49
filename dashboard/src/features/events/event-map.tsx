import { useQuery } from '@tanstack/react-query';
import { Network } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { EmptyState } from '../../components/layout/empty-state.tsx';
import { ErrorNotice } from '../../components/layout/error-notice.tsx';
import { QueryState } from '../../components/layout/query-state.tsx';
import { useApi } from '../../lib/api/client.ts';
import { reaches, useRole } from '../../lib/api/session.ts';
import { graphOf, type Sample } from './graph.ts';
import { GraphDrawing } from './graph-drawing.tsx';
import { GraphTable } from './graph-table.tsx';
import { eventConfigQuery, eventStatusQuery } from './queries.ts';

/** Where events go, with how many and how many wait: drawn, or as a table. */
export function EventMap({ asTable }: { asTable: boolean }) {
  const { t } = useTranslation('events');
  const api = useApi();
  const role = useRole();
  const status = useQuery(eventStatusQuery(api));
  const config = useQuery({ ...eventConfigQuery(api), enabled: reaches(role, 'operator') });
  const before = usePrevious(status.data);
  return (
    <QueryState query={status} lines={8} height={320}>
      {(now) => {
        if (!now.status.running || now.status.sources.length + now.status.triggers.length === 0)
          return (
            <EmptyState icon={Network} title={t('map.none')}>
              {t('map.noneNext')}
            </EmptyState>
          );
        const graph = graphOf(now, before, config.data ?? null);
        const { problems } = now.status;
        const { rejected } = now.status.config;
        return (
          <>
            {rejected !== null && (
              <div className="p-3">
                <ErrorNotice
                  error={new Error(t('map.rejected', { count: rejected.errors, first: rejected.first }))}
                />
              </div>
            )}
            {problems.length > 0 && (
              <ul className="border-line border-b bg-warn-soft px-4 py-2">
                {problems.map((problem) => (
                  <li key={problem} className="[overflow-wrap:anywhere]">
                    {problem}
                  </li>
                ))}
              </ul>
            )}
            {asTable ? <GraphTable graph={graph} /> : <GraphDrawing graph={graph} />}
          </>
        );
      }}
    </QueryState>
  );
}

/** The look before this one. */
function usePrevious(now: Sample | undefined): Sample | null {
  const looks = useRef<{ now: Sample | null; before: Sample | null }>({ now: null, before: null });
  useEffect(() => {
    if (now !== undefined && now.at !== looks.current.now?.at)
      looks.current = { now, before: looks.current.now };
  }, [now]);
  const { before, now: last } = looks.current;
  // While a new look is drawn, the last that was noted is the one before it.
  return now !== undefined && last !== null && last.at !== now.at ? last : before;
}
