import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Ellipsis, Pause, Play, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { buttonClass, IconButton } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { Menu } from '../../components/menu.tsx';
import { useNotify } from '../../components/toasts.tsx';
import { allows, useApi } from '../../lib/api/client.ts';
import type { Key } from './queries.ts';

/** What may be done to one key: seen in its requests, paused, revoked. */
export function KeyActions({ row }: { row: Key }) {
  const { t } = useTranslation('keys');
  const api = useApi();
  const queries = useQueryClient();
  const notify = useNotify();
  const [revoking, setRevoking] = useState(false);
  const path = `keys/${encodeURIComponent(row.id)}`;
  const refresh = () => queries.invalidateQueries({ queryKey: ['keys'] });
  const act = useMutation({
    mutationFn: (action: 'enable' | 'disable') => api.post(path, { action }),
    onSuccess: async (_, action) => {
      await refresh();
      notify(t(`done.${action}`, { name: row.name }), () =>
        act.mutate(action === 'enable' ? 'disable' : 'enable'),
      );
    },
    onError: (error) => notify(error.message),
  });
  const items = [
    ...(allows(row, 'disable')
      ? [{ key: 'disable', label: t('action.disable'), icon: Pause, onSelect: () => act.mutate('disable') }]
      : []),
    ...(allows(row, 'enable')
      ? [{ key: 'enable', label: t('action.enable'), icon: Play, onSelect: () => act.mutate('enable') }]
      : []),
    ...(allows(row, 'delete')
      ? [
          {
            key: 'delete',
            label: t('action.revoke'),
            icon: Trash2,
            danger: true,
            onSelect: () => setRevoking(true),
          },
        ]
      : []),
  ];
  return (
    <span className="flex items-center justify-end gap-1">
      <Link to="/requests" search={{ key: row.id }} className={buttonClass('quiet', 'max-sm:hidden')}>
        {t('action.requests')}
      </Link>
      {items.length > 0 && (
        <Menu
          label={t('action.more', { name: row.name })}
          trigger={<IconButton icon={Ellipsis} label={t('action.more', { name: row.name })} />}
          items={items}
        />
      )}
      <ConfirmDialog
        open={revoking}
        onClose={() => setRevoking(false)}
        title={t('revoke.title', { name: row.name })}
        confirm={t('action.revoke')}
        onConfirm={async () => {
          await api.remove(path);
          await refresh();
        }}
      >
        {t('revoke.what')}
      </ConfirmDialog>
    </span>
  );
}
