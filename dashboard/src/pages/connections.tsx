import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Cable, Plus } from 'lucide-react';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Count, RelativeTime } from '../components/amounts.tsx';
import { Button } from '../components/button.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { PageHeader } from '../components/page-header.tsx';
import { Panel } from '../components/panel.tsx';
import { QueryState } from '../components/query-state.tsx';
import { StatusBadge, type Tone } from '../components/status-badge.tsx';
import { ConnectionActions } from '../features/connections/connection-actions.tsx';
import { ConnectionForm } from '../features/connections/connection-form.tsx';
import { type Connection, connectionsQuery } from '../features/connections/queries.ts';
import { allows, useApi } from '../lib/api/client.ts';
import { searchOfSort, sortOf } from '../lib/sort-search.ts';

const route = getRouteApi('/connections');

/** What a connection is in one word. */
function stateOf({ active, condition, needs_reentry, status }: Connection): { tone: Tone; word: string } {
  if (!active) return { tone: 'neutral', word: 'paused' };
  if (needs_reentry) return { tone: 'bad', word: 'needsKey' };
  if (condition.state !== 'ready') return { tone: 'warn', word: condition.state };
  if (status === 'failed') return { tone: 'bad', word: 'failed' };
  return status === 'ok' ? { tone: 'ok', word: 'ready' } : { tone: 'pending', word: 'untested' };
}

/** The accounts at providers, each with how it is and what may be done about it. */
export function ConnectionsPage() {
  const { t } = useTranslation('connections');
  const api = useApi();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const connections = useQuery(connectionsQuery(api));
  const [adding, setAdding] = useState(false);
  const columns = useMemo<readonly Column<Connection>[]>(
    () => [
      {
        id: 'name',
        header: t('column.name'),
        cell: ({ name }) => <span className="font-medium">{name}</span>,
        sortBy: ({ name }) => name.toLowerCase(),
        narrow: true,
      },
      {
        id: 'provider',
        header: t('column.provider'),
        cell: ({ provider }) => provider,
        sortBy: ({ provider }) => provider,
      },
      {
        id: 'state',
        header: t('column.state'),
        cell: (connection) => {
          const { tone, word } = stateOf(connection);
          return (
            <StatusBadge
              tone={tone}
              title={connection.condition.reason ?? connection.last_error ?? undefined}
            >
              {t(`state.${word}`)}
            </StatusBadge>
          );
        },
        sortBy: (connection) => stateOf(connection).word,
        narrow: true,
      },
      {
        id: 'models',
        header: t('column.models'),
        cell: ({ models }) => <Count value={models} />,
        sortBy: ({ models }) => models,
        align: 'end',
      },
      {
        id: 'last_error',
        header: t('column.lastError'),
        cell: ({ last_error }) => <span title={last_error ?? undefined}>{last_error ?? '–'}</span>,
      },
      {
        id: 'last_tested_at',
        header: t('column.tested'),
        cell: ({ last_tested_at }) => <RelativeTime at={last_tested_at} />,
        sortBy: ({ last_tested_at }) => last_tested_at,
      },
      {
        id: 'actions',
        header: '',
        cell: (connection) => <ConnectionActions row={connection} />,
        narrow: true,
        width: '10rem',
      },
    ],
    [t],
  );
  return (
    <>
      <PageHeader
        title={t('title')}
        subtitle={t('subtitle')}
        actions={
          <Button
            variant="primary"
            icon={Plus}
            onClick={() => setAdding(true)}
            disabledReason={
              connections.data === undefined || allows(connections.data, 'create')
                ? null
                : t('common:needsRole', { role: t('common:role.admin') })
            }
          >
            {t('add')}
          </Button>
        }
      />
      <Panel flush>
        <QueryState query={connections} lines={6} height={260}>
          {({ resources }) => (
            <DataTable
              label={t('title')}
              columns={columns}
              rows={resources}
              rowId={({ id }) => id}
              sort={sortOf(search)}
              onSort={(sort) => void navigate({ search: searchOfSort(sort) })}
              empty={
                <EmptyState icon={Cable} title={t('empty.title')}>
                  {t('empty.next')}
                </EmptyState>
              }
            />
          )}
        </QueryState>
      </Panel>
      {adding && <ConnectionForm onClose={() => setAdding(false)} />}
    </>
  );
}
