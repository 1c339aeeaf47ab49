import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Ellipsis, KeyRound, LogOut, Pause, Play, ShieldHalf, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { IconButton } from '../../components/controls/button.tsx';
import { Menu, type MenuItem } from '../../components/controls/menu.tsx';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { Reopened } from '../../components/dialogs/reopened.tsx';
import { useNotify } from '../../components/dialogs/toasts.tsx';
import { allows, useApi } from '../../lib/api/client.ts';
import { PasswordForm } from './password-form.tsx';
import type { User } from './queries.ts';
import { RoleForm } from './role-form.tsx';

type Asking = 'role' | 'password' | 'disable' | 'revoke_sessions' | 'delete';

/** What may be done to one user. @param own whether it is who reads the page */
export function UserActions({ row, own }: { row: User; own: boolean }) {
  const { t } = useTranslation('users');
  const api = useApi();
  const queries = useQueryClient();
  const notify = useNotify();
  const [asking, setAsking] = useState<Asking | null>(null);
  const path = `users/${encodeURIComponent(row.id)}`;
  const refresh = () =>
    Promise.all(['users', 'tokens'].map((name) => queries.invalidateQueries({ queryKey: [name] })));
  const enable = useMutation({
    mutationFn: () => api.post<{ message: string }>(path, { action: 'enable' }),
    onSuccess: ({ message }) => notify(message),
    onError: (error) => notify(error.message),
    onSettled: refresh,
  });
  const close = () => setAsking(null);
  const item = (key: Asking, icon: MenuItem['icon'], danger = false): MenuItem => ({
    key,
    label: t(`action.${key}`),
    ...(icon === undefined ? {} : { icon }),
    danger,
    onSelect: () => setAsking(key),
  });
  const items: MenuItem[] = [
    ...(allows(row, 'edit') && !own ? [item('role', ShieldHalf)] : []),
    ...(allows(row, 'set_password') ? [item('password', KeyRound)] : []),
    ...(allows(row, 'revoke_sessions') ? [item('revoke_sessions', LogOut)] : []),
    ...(allows(row, 'enable')
      ? [{ key: 'enable', label: t('action.enable'), icon: Play, onSelect: () => enable.mutate() }]
      : []),
    ...(allows(row, 'disable') && !own ? [item('disable', Pause, true)] : []),
    ...(allows(row, 'delete') && !own ? [item('delete', Trash2, true)] : []),
  ];
  if (items.length === 0) return null;
  const label = t('action.more', { name: row.name });
  const confirmed = asking === 'disable' || asking === 'revoke_sessions' || asking === 'delete';
  return (
    <span className="flex justify-end">
      <Menu label={label} trigger={<IconButton icon={Ellipsis} label={label} />} items={items} />
      {asking === 'role' && (
        <Reopened row={row}>
          {(user, reopen) => <RoleForm user={user} onClose={close} onReload={reopen} />}
        </Reopened>
      )}
      {asking === 'password' && <PasswordForm user={row} own={own} onClose={close} />}
      {confirmed && (
        <ConfirmDialog
          open
          onClose={close}
          title={t(`${asking}.title`, { name: row.name })}
          confirm={t(`action.${asking}`)}
          onConfirm={async () => {
            if (asking === 'delete') await api.remove(path);
            else notify((await api.post<{ message: string }>(path, { action: asking })).message);
            await refresh();
          }}
        >
          {t(`${asking}.what`)}
        </ConfirmDialog>
      )}
    </span>
  );
}
