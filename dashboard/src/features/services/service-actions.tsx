import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Activity, Ellipsis, Play, RefreshCw, RotateCw, Square } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { IconButton } from '../../components/controls/button.tsx';
import { Menu, type MenuItem } from '../../components/controls/menu.tsx';
import { useNotify } from '../../components/dialogs/toasts.tsx';
import { allows, useApi } from '../../lib/api/client.ts';
import type { Service } from './queries.ts';
import { type DisruptiveAction, StopDialog } from './stop-dialog.tsx';

const harmless = { start: Play, reload: RefreshCw, test: Activity } as const;
const disruptive = { restart: RotateCw, stop: Square } as const;

/** What may be done to one service. What cuts somebody off asks first. */
export function ServiceActions({ row }: { row: Service }) {
  const { t } = useTranslation('services');
  const api = useApi();
  const queries = useQueryClient();
  const notify = useNotify();
  const [asking, setAsking] = useState<DisruptiveAction | null>(null);
  const act = useMutation({
    mutationFn: (action: keyof typeof harmless) =>
      api.post<{ message: string }>(`services/${encodeURIComponent(row.id)}`, { action }),
    onSuccess: ({ message }) => notify(message),
    onError: (error) => notify(error.message),
    onSettled: () => queries.invalidateQueries({ queryKey: ['services'] }),
  });
  const items: MenuItem[] = [
    ...(Object.keys(harmless) as (keyof typeof harmless)[])
      .filter((name) => allows(row, name))
      .map((name) => ({
        key: name,
        label: t(`action.${name}`),
        icon: harmless[name],
        onSelect: () => act.mutate(name),
      })),
    ...(Object.keys(disruptive) as DisruptiveAction[])
      .filter((name) => allows(row, name))
      .map((name) => ({
        key: name,
        label: t(`action.${name}`),
        icon: disruptive[name],
        danger: true,
        onSelect: () => setAsking(name),
      })),
  ];
  if (items.length === 0) return null;
  const label = t('action.more', { name: row.name });
  return (
    <span className="flex justify-end">
      <Menu
        label={label}
        trigger={<IconButton icon={Ellipsis} label={label} disabled={act.isPending} />}
        items={items}
      />
      {asking !== null && <StopDialog service={row} action={asking} onClose={() => setAsking(null)} />}
    </span>
  );
}
