import { useMutation, useQueryClient } from '@tanstack/react-query';
import { ArchiveRestore, Ellipsis, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button, IconButton } from '../../components/controls/button.tsx';
import { Menu, type MenuItem } from '../../components/controls/menu.tsx';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { useNotify } from '../../components/dialogs/toasts.tsx';
import { CodeBlock } from '../../components/text/code-block.tsx';
import { allows, useApi } from '../../lib/api/client.ts';
import type { Backup } from './queries.ts';

/** What may be done with one backup: checked, restored at the command line, removed. */
export function BackupActions({ row }: { row: Backup }) {
  const { t } = useTranslation('backups');
  const api = useApi();
  const queries = useQueryClient();
  const notify = useNotify();
  const [asking, setAsking] = useState<'restore' | 'delete' | null>(null);
  const path = `backups/${encodeURIComponent(row.id)}`;
  const close = () => setAsking(null);
  const verify = useMutation({
    mutationFn: () => api.post<{ message: string }>(path, { action: 'verify' }),
    onSuccess: ({ message }) => notify(message),
    onError: (error) => notify(error.message),
    onSettled: () => queries.invalidateQueries({ queryKey: ['tasks'] }),
  });
  const label = t('more', { name: row.id });
  const items: MenuItem[] = [
    ...(allows(row, 'restore')
      ? [{ key: 'restore', label: t('restore'), icon: ArchiveRestore, onSelect: () => setAsking('restore') }]
      : []),
    ...(allows(row, 'delete')
      ? [
          {
            key: 'delete',
            label: t('remove'),
            icon: Trash2,
            danger: true,
            onSelect: () => setAsking('delete'),
          },
        ]
      : []),
  ];
  return (
    <span className="flex items-center justify-end gap-1">
      {allows(row, 'verify') && (
        <Button variant="quiet" busy={verify.isPending} onClick={() => verify.mutate()}>
          {t('verify')}
        </Button>
      )}
      {items.length > 0 && (
        <Menu label={label} trigger={<IconButton icon={Ellipsis} label={label} />} items={items} />
      )}
      <Dialog
        open={asking === 'restore'}
        onClose={close}
        title={t('restoreTitle', { name: row.id })}
        description={t('restoreWhat')}
        footer={
          <Button variant="primary" onClick={close}>
            {t('common:close')}
          </Button>
        }
      >
        <div className="pb-3">
          <CodeBlock code={`gateway stop\ngateway restore ${row.id}\ngateway serve`} />
          {row.includes_secret === false && <p className="mt-3 text-muted">{t('restoreNeedsKey')}</p>}
        </div>
      </Dialog>
      <ConfirmDialog
        open={asking === 'delete'}
        onClose={close}
        title={t('removeTitle', { name: row.id })}
        confirm={t('remove')}
        onConfirm={async () => {
          await api.remove(path);
          await queries.invalidateQueries({ queryKey: ['backups'] });
        }}
      >
        {t('removeWhat')}
      </ConfirmDialog>
    </span>
  );
}
