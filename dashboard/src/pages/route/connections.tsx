import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Cable } from 'lucide-react';
import { useCallback, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { CreateButton } from '../../components/controls/create-button.tsx';
import { Reopened } from '../../components/dialogs/reopened.tsx';
import { Count, RelativeTime } from '../../components/figures/amounts.tsx';
import { ListPage } from '../../components/layout/list-page.tsx';
import type { Column } from '../../components/tables/data-table.tsx';
import { ConnectionActions } from '../../features/connections/connection-actions.tsx';
import { ConnectionDetails } from '../../features/connections/connection-details.tsx';
import { ConnectionEdit } from '../../features/connections/connection-edit.tsx';
import { ConnectionForm } from '../../features/connections/connection-form.tsx';
import { ConnectionState, stateOf } from '../../features/connections/connection-state.tsx';
import { LoginDialog } from '../../features/connections/login-dialog.tsx';
import { type Connection, connectionsQuery, quotaQuery } from '../../features/connections/queries.ts';
import { QuotaCell } from '../../features/connections/quota-bars.tsx';
import type { ConnectionsSearch } from '../../features/connections/search.ts';
import { allows, useApi } from '../../lib/api/client.ts';
import type { SortSearch } from '../../lib/sort-search.ts';

const route = getRouteApi('/connections');

/** The accounts at providers, each with how it is and what may be done about it. */
export function ConnectionsPage() {
  const { t } = useTranslation('connections');
  const api = useApi();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const connections = useQuery(connectionsQuery(api));
  const quota = useQuery(quotaQuery(api)).data?.resources;
  // Dialogs stand in the address: they can be linked to, and the back button closes them.
  const show = useCallback(
    (kind: ConnectionsSearch['show'], id?: string) =>
      void navigate({
        search: ({ connection: _, show: __, ...before }) => ({
          ...before,
          ...(kind === undefined ? {} : { show: kind }),
          ...(id === undefined ? {} : { connection: id }),
        }),
      }),
    [navigate],
  );
  const close = () => show(undefined);
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
        cell: (connection) => <ConnectionState connection={connection} />,
        sortBy: (connection) => stateOf(connection).word,
        narrow: true,
      },
      {
        id: 'quota',
        header: t('column.quota'),
        cell: ({ id }) => <QuotaCell quota={quota?.find((one) => one.id === id)} />,
        sortBy: ({ id }) => quota?.find((one) => one.id === id)?.headroom ?? null,
        width: '9rem',
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
        cell: (connection) => (
          <ConnectionActions
            row={connection}
            onEdit={({ id }) => show('edit', id)}
            onLogin={({ id }) => show('login', id)}
          />
        ),
        narrow: true,
        width: '10rem',
      },
    ],
    [t, quota, show],
  );
  const change = useCallback(
    (next: Partial<SortSearch>) =>
      void navigate({ search: (before) => ({ ...before, ...next }), replace: true }),
    [navigate],
  );
  const opened =
    search.connection === undefined
      ? undefined
      : connections.data?.resources.find(({ id, name }) => [id, name].includes(search.connection ?? ''));
  return (
    <ListPage
      title={t('title')}
      subtitle={t('subtitle')}
      actions={
        <CreateButton collection={connections.data} onClick={() => show('new')}>
          {t('add')}
        </CreateButton>
      }
      query={connections}
      lines={6}
      height={260}
      columns={columns}
      search={search}
      onSearch={change}
      filter={{ label: t('filter'), textOf: ({ name, provider }) => `${name} ${provider}` }}
      onOpen={({ id }) => show('details', id)}
      empty={{ icon: Cable, title: t('empty.title'), next: t('empty.next'), filtered: t('empty.filtered') }}
    >
      {search.show === 'new' && <ConnectionForm onClose={close} onLogin={({ id }) => show('login', id)} />}
      {opened !== undefined && search.show === 'details' && (
        <ConnectionDetails
          connection={opened}
          quota={quota?.find(({ id }) => id === opened.id)}
          onClose={close}
        />
      )}
      {opened !== undefined && search.show === 'edit' && allows(opened, 'edit') && (
        <Reopened row={opened}>
          {(connection, reopen) => (
            <ConnectionEdit connection={connection} onClose={close} onReload={reopen} />
          )}
        </Reopened>
      )}
      {opened !== undefined && search.show === 'login' && allows(opened, 'login') && (
        <LoginDialog connection={opened} onClose={close} />
      )}
    </ListPage>
  );
}
