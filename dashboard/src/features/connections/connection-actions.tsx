import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Ellipsis, ListRestart, LogIn, LogOut, Pause, Pencil, Play, RotateCcw, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button, IconButton } from '../../components/controls/button.tsx';
import { Menu } from '../../components/controls/menu.tsx';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { useNotify } from '../../components/dialogs/toasts.tsx';
import { allows, useApi } from '../../lib/api/client.ts';
import type { Connection } from './queries.ts';

interface ConnectionActionsProps {
  row: Connection;
  onEdit(row: Connection): void;
  onLogin(row: Connection): void;
}

type ActionName = 'test' | 'enable' | 'disable' | 'discover' | 'reset' | 'logout';

/** What may be done to one connection: tested, changed, logged in, paused, removed. */
export function ConnectionActions({ row, onEdit, onLogin }: ConnectionActionsProps) {
  const { t } = useTranslation('connections');
  const api = useApi();
  const queries = useQueryClient();
  const notify = useNotify();
  const [removing, setRemoving] = useState(false);
  const path = `connections/${encodeURIComponent(row.id)}`;
  const act = useMutation({
    mutationFn: (action: ActionName) => api.post<{ message: string }>(path, { action }),
    onSuccess: ({ message }) => notify(message),
    onError: (error) => notify(error.message),
    onSettled: () => queries.invalidateQueries({ queryKey: ['connections'] }),
  });
  const items = [
    ...(allows(row, 'edit')
      ? [{ key: 'edit', label: t('edit.open'), icon: Pencil, onSelect: () => onEdit(row) }]
      : []),
    ...(allows(row, 'login')
      ? [{ key: 'login', label: t('login.begin'), icon: LogIn, onSelect: () => onLogin(row) }]
      : []),
    ...(allows(row, 'logout') && row.oauth?.logged_in === true
      ? [{ key: 'logout', label: t('login.end'), icon: LogOut, onSelect: () => act.mutate('logout') }]
      : []),
    ...(allows(row, 'discover')
      ? [{ key: 'discover', label: t('discover'), icon: ListRestart, onSelect: () => act.mutate('discover') }]
      : []),
    ...(allows(row, 'reset')
      ? [{ key: 'reset', label: t('reset'), icon: RotateCcw, onSelect: () => act.mutate('reset') }]
      : []),
    ...(allows(row, 'disable')
      ? [{ key: 'disable', label: t('pause'), icon: Pause, onSelect: () => act.mutate('disable') }]
      : []),
    ...(allows(row, 'enable')
      ? [{ key: 'enable', label: t('resume'), icon: Play, onSelect: () => act.mutate('enable') }]
      : []),
    ...(allows(row, 'delete')
      ? [{ key: 'delete', label: t('remove'), icon: Trash2, danger: true, onSelect: () => setRemoving(true) }]
      : []),
  ];
  return (
    <span className="flex items-center justify-end gap-1">
      {allows(row, 'test') && (
        <Button variant="quiet" busy={act.isPending} onClick={() => act.mutate('test')}>
          {t('test')}
        </Button>
      )}
      {items.length > 0 && (
        <Menu
          label={t('more', { name: row.name })}
          trigger={<IconButton icon={Ellipsis} label={t('more', { name: row.name })} />}
          items={items}
        />
      )}
      <ConfirmDialog
        open={removing}
        onClose={() => setRemoving(false)}
        title={t('removeTitle', { name: row.name })}
        confirm={t('remove')}
        onConfirm={async () => {
          await api.remove(path);
          await queries.invalidateQueries({ queryKey: ['connections'] });
        }}
      >
        {t('removeWhat')}
      </ConfirmDialog>
    </span>
  );
}
