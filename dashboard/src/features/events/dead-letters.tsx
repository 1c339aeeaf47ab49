import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Inbox, RotateCcw, Trash2 } from 'lucide-react';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../components/controls/button.tsx';
import { Select } from '../../components/controls/field.tsx';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { useNotify } from '../../components/dialogs/toasts.tsx';
import { RelativeTime } from '../../components/figures/amounts.tsx';
import { EmptyState } from '../../components/layout/empty-state.tsx';
import type { Column, Sort } from '../../components/tables/data-table.tsx';
import { EndlessTable } from '../../components/tables/endless-table.tsx';
import { useApi } from '../../lib/api/client.ts';
import { type DeadLetter, deadLettersQuery, eventStatusQuery } from './queries.ts';

interface DeadLettersProps {
  /** Null: of all triggers. */
  trigger: string | null;
  openId: string | null;
  onTrigger(trigger: string | null): void;
}

/** Events that triggers gave up: why, and giving them back or throwing them away. */
export function DeadLetters({ onTrigger, openId, trigger }: DeadLettersProps) {
  const { t } = useTranslation('events');
  const api = useApi();
  const queries = useQueryClient();
  const notify = useNotify();
  const navigate = useNavigate();
  const list = useInfiniteQuery(deadLettersQuery(api, trigger));
  const triggers = useQuery(eventStatusQuery(api)).data?.status.triggers ?? [];
  const [sort, setSort] = useState<Sort | null>(null);
  const [purging, setPurging] = useState(false);
  const count = list.data?.pages[0]?.count ?? 0;
  const selection = trigger === null ? { all: true } : { trigger };
  const refresh = () => queries.invalidateQueries({ queryKey: ['events'] });
  const replay = useMutation({
    mutationFn: () => api.post<{ count: number }>('events/dead-letters:replay', selection),
    onSuccess: ({ count: replayed }) => notify(t('letters.replayed', { count: replayed })),
    onError: (error) => notify(error.message),
    onSettled: refresh,
  });
  const columns = useMemo<readonly Column<DeadLetter>[]>(
    () => [
      {
        id: 'type',
        header: t('column.type'),
        cell: ({ event }) => (
          <code className="text-xs">{String(event?.['type'] ?? t('letters.damaged'))}</code>
        ),
        narrow: true,
      },
      { id: 'trigger', header: t('kind.trigger.one'), cell: (letter) => letter.trigger },
      {
        id: 'reason',
        header: t('column.reason'),
        cell: ({ error, reason }) => <span title={error}>{t(`reason.${reason}`)}</span>,
        narrow: true,
      },
      { id: 'error', header: t('column.error'), cell: ({ error }) => <span title={error}>{error}</span> },
      { id: 'attempts', header: t('column.attempts'), cell: ({ attempts }) => attempts, align: 'end' },
      {
        id: 'created_at',
        header: t('column.since'),
        cell: ({ created_at }) => <RelativeTime at={created_at} />,
      },
    ],
    [t],
  );
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <Select
          label={t('kind.trigger.one')}
          value={trigger ?? ''}
          onChange={({ target }) => onTrigger(target.value === '' ? null : target.value)}
          choices={[
            { value: '', label: t('letters.allTriggers') },
            ...[...new Set([...triggers.map(({ id }) => id), ...(trigger === null ? [] : [trigger])])].map(
              (id) => ({ value: id, label: id }),
            ),
          ]}
        />
        <span className="text-muted text-sm">{t('letters.count', { count })}</span>
        <div className="ms-auto flex gap-2">
          <Button
            icon={RotateCcw}
            busy={replay.isPending}
            disabledReason={count === 0 ? t('letters.none') : null}
            onClick={() => replay.mutate()}
          >
            {t('letters.replayAll')}
          </Button>
          <Button
            icon={Trash2}
            variant="danger"
            disabledReason={count === 0 ? t('letters.none') : null}
            onClick={() => setPurging(true)}
          >
            {t('letters.purge')}
          </Button>
        </div>
      </div>
      <EndlessTable
        list={list}
        rowId={({ id }) => id}
        lines={6}
        height={260}
        label={t('letters.title')}
        columns={columns}
        sort={sort}
        onSort={setSort}
        onOpen={({ id }) =>
          void navigate({
            to: '/events/$letterId',
            params: { letterId: id },
            search: { view: 'letters', ...(trigger === null ? {} : { trigger }) },
          })
        }
        openId={openId}
        empty={
          <EmptyState icon={Inbox} title={t('letters.none')}>
            {t('letters.noneNext')}
          </EmptyState>
        }
      />
      <ConfirmDialog
        open={purging}
        onClose={() => setPurging(false)}
        title={t('letters.purgeTitle', { count })}
        confirm={t('letters.purge')}
        onConfirm={async () => {
          const purged = await api.post<{ count: number }>('events/dead-letters:purge', selection);
          notify(t('letters.purged', { count: purged.count }));
          await refresh();
        }}
      >
        {t('letters.purgeWhat')}
      </ConfirmDialog>
    </>
  );
}
