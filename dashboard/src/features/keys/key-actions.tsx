import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Ellipsis, Pause, Pencil, Play, RefreshCw, ScrollText, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { IconButton } from '../../components/controls/button.tsx';
import { Menu } from '../../components/controls/menu.tsx';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { useNotify } from '../../components/dialogs/toasts.tsx';
import { allows, useApi } from '../../lib/api/client.ts';
import type { NewKey } from './key-form.tsx';
import type { Key } from './queries.ts';

interface KeyActionsProps {
  row: Key;
  onEdit(row: Key): void;
  /** Gets the new text of a key, which is shown this once. */
  onRotated(key: NewKey): void;
}

/** What may be done to one key: seen in its requests, changed, given another text, paused, revoked. */
export function KeyActions({ row, onEdit, onRotated }: KeyActionsProps) {
  const { t } = useTranslation('keys');
  const api = useApi();
  const queries = useQueryClient();
  const notify = useNotify();
  const navigate = useNavigate();
  const [revoking, setRevoking] = useState(false);
  const [rotating, setRotating] = useState(false);
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
    {
      key: 'requests',
      label: t('action.requests'),
      icon: ScrollText,
      onSelect: () => void navigate({ to: '/requests', search: { key: row.id } }),
    },
    ...(allows(row, 'edit')
      ? [{ key: 'edit', label: t('action.edit'), icon: Pencil, onSelect: () => onEdit(row) }]
      : []),
    ...(allows(row, 'rotate')
      ? [{ key: 'rotate', label: t('action.rotate'), icon: RefreshCw, onSelect: () => setRotating(true) }]
      : []),
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
      <Menu
        label={t('action.more', { name: row.name })}
        trigger={<IconButton icon={Ellipsis} label={t('action.more', { name: row.name })} />}
        items={items}
      />
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
      <ConfirmDialog
        open={rotating}
        onClose={() => setRotating(false)}
        title={t('rotate.title', { name: row.name })}
        confirm={t('action.rotate')}
        onConfirm={async () => {
          const { result } = await api.post<{ result: { key: string } }>(path, { action: 'rotate' });
          await refresh();
          onRotated({ name: row.name, key: result.key });
        }}
      >
        {t('rotate.what')}
      </ConfirmDialog>
    </span>
  );
}
