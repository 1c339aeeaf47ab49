import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Ellipsis, Pause, Play, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button, IconButton } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { Menu } from '../../components/menu.tsx';
import { useNotify } from '../../components/toasts.tsx';
import { allows, useApi } from '../../lib/api/client.ts';
import type { Connection } from './queries.ts';

/** What may be done to one connection: tested, paused, removed. */
export function ConnectionActions({ row }: { row: Connection }) {
  const { t } = useTranslation('connections');
  const api = useApi();
  const queries = useQueryClient();
  const notify = useNotify();
  const [removing, setRemoving] = useState(false);
  const path = `connections/${encodeURIComponent(row.id)}`;
  const act = useMutation({
    mutationFn: (action: 'test' | 'enable' | 'disable') => api.post<{ message: string }>(path, { action }),
    onSuccess: ({ message }) => notify(message),
    onError: (error) => notify(error.message),
    onSettled: () => queries.invalidateQueries({ queryKey: ['connections'] }),
  });
  const items = [
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
