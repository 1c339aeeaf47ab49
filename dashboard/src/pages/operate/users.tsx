import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { CreateButton } from '../../components/controls/create-button.tsx';
import { RelativeTime } from '../../components/figures/amounts.tsx';
import { StatusBadge } from '../../components/figures/status-badge.tsx';
import { ListPage } from '../../components/layout/list-page.tsx';
import type { Column } from '../../components/tables/data-table.tsx';
import { type User, usersQuery } from '../../features/users/queries.ts';
import { TokenTable } from '../../features/users/token-table.tsx';
import { UserActions } from '../../features/users/user-actions.tsx';
import { UserForm } from '../../features/users/user-form.tsx';
import { useApi } from '../../lib/api/client.ts';
import { useSessionState } from '../../lib/api/session.ts';

const route = getRouteApi('/users');

/** Who may manage the gateway, and with which tokens. Everybody sees themselves here, admins see all. */
export function UsersPage() {
  const { t } = useTranslation('users');
  const api = useApi();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const state = useSessionState();
  const self = state.kind === 'out' ? '' : state.login.user;
  const users = useQuery(usersQuery(api));
  const [creating, setCreating] = useState(false);
  const columns = useMemo<readonly Column<User>[]>(
    () => [
      {
        id: 'name',
        header: t('column.name'),
        cell: ({ display_name, name }) => (
          <>
            <span className="font-medium">{name}</span>
            {display_name !== null && <span className="ms-2 text-muted">{display_name}</span>}
          </>
        ),
        sortBy: ({ name }) => name,
        narrow: true,
      },
      {
        id: 'role',
        header: t('field.role'),
        cell: ({ role }) => <span title={t(`roleWhat.${role}`)}>{t(`common:role.${role}`)}</span>,
        sortBy: ({ role }) => role,
        narrow: true,
      },
      {
        id: 'state',
        header: t('column.state'),
        cell: ({ disabled }) => (
          <StatusBadge tone={disabled ? 'neutral' : 'ok'}>
            {t(disabled ? 'state.disabled' : 'state.active')}
          </StatusBadge>
        ),
        sortBy: ({ disabled }) => Number(disabled),
      },
      {
        id: 'last_login_at',
        header: t('column.lastLogin'),
        cell: ({ last_login_at }) => <RelativeTime at={last_login_at} />,
        sortBy: ({ last_login_at }) => last_login_at,
      },
      {
        id: 'created_at',
        header: t('column.created'),
        cell: ({ created_at }) => <RelativeTime at={created_at} />,
        sortBy: ({ created_at }) => created_at,
      },
      {
        id: 'actions',
        header: '',
        cell: (user) => <UserActions row={user} own={user.name === self} />,
        narrow: true,
        width: '3.5rem',
      },
    ],
    [self, t],
  );
  return (
    <ListPage
      title={t('title')}
      subtitle={t('subtitle')}
      actions={
        <CreateButton collection={users.data} onClick={() => setCreating(true)}>
          {t('create')}
        </CreateButton>
      }
      query={users}
      lines={4}
      columns={columns}
      search={search}
      onSearch={(next) => void navigate({ search: (before) => ({ ...before, ...next }) })}
      empty={null}
    >
      <div className="mt-5">
        <TokenTable />
      </div>
      {creating && <UserForm onClose={() => setCreating(false)} />}
    </ListPage>
  );
}
