import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Ellipsis, Pencil, RotateCcw, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { IconButton } from '../../components/controls/button.tsx';
import { Menu } from '../../components/controls/menu.tsx';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { useNotify } from '../../components/dialogs/toasts.tsx';
import { unlessChanged } from '../../lib/api/change.ts';
import { allows, useApi } from '../../lib/api/client.ts';
import { scopeName } from './columns.tsx';
import { type Budget, fieldsOfBudget } from './queries.ts';

/** What may be done to one budget: changed, begun anew, deleted, which can be undone. */
export function BudgetActions({ row, onEdit }: { row: Budget; onEdit(): void }) {
  const { t } = useTranslation('budgets');
  const api = useApi();
  const queries = useQueryClient();
  const notify = useNotify();
  const [asking, setAsking] = useState<'reset' | null>(null);
  const name = scopeName(t, row);
  const path = `budgets/${encodeURIComponent(row.id)}`;
  const refresh = () => queries.invalidateQueries({ queryKey: ['budgets'] });
  const restore = useMutation({
    mutationFn: () =>
      api.post('budgets', {
        scope: row.scope,
        subject: row.subject,
        metric: row.metric,
        limit: row.limit,
        period: row.period,
        soft_percent: row.soft_percent,
        unpriced: row.unpriced,
      }),
    onSuccess: refresh,
    onError: (error) => notify(error.message),
  });
  const remove = useMutation({
    // What is deleted is what the page shows, and the toast has the whole of it back.
    mutationFn: () =>
      unlessChanged(api, path, { seen: row, change: {}, fieldsOf: fieldsOfBudget }, (headers) =>
        api.remove(path, { headers }),
      ),
    onSuccess: async ({ stale }) => {
      await refresh();
      if (stale !== null) return notify(t('common:stale.title'));
      notify(t('removed', { name }), () => restore.mutate());
    },
    onError: (error) => notify(error.message),
  });
  const items = [
    ...(allows(row, 'edit')
      ? [{ key: 'edit', label: t('action.edit'), icon: Pencil, onSelect: onEdit }]
      : []),
    ...(allows(row, 'reset')
      ? [{ key: 'reset', label: t('action.reset'), icon: RotateCcw, onSelect: () => setAsking('reset') }]
      : []),
    ...(allows(row, 'delete')
      ? [
          {
            key: 'delete',
            label: t('action.delete'),
            icon: Trash2,
            danger: true,
            onSelect: () => remove.mutate(),
          },
        ]
      : []),
  ];
  if (items.length === 0) return null;
  const label = t('action.more', { name });
  return (
    <span className="flex justify-end">
      <Menu label={label} trigger={<IconButton icon={Ellipsis} label={label} />} items={items} />
      <ConfirmDialog
        open={asking === 'reset'}
        onClose={() => setAsking(null)}
        title={t('reset.title', { name })}
        confirm={t('action.reset')}
        onConfirm={async () => {
          await api.post(path, { action: 'reset' });
          await refresh();
        }}
      >
        {t('reset.what')}
      </ConfirmDialog>
    </span>
  );
}
