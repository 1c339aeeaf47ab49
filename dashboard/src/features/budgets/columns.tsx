import type { TFunction } from 'i18next';
import { Count, Money, RelativeTime } from '../../components/figures/amounts.tsx';
import { StatusBadge } from '../../components/figures/status-badge.tsx';
import type { Column } from '../../components/tables/data-table.tsx';
import { RowName } from '../../components/tables/row-name.tsx';
import type { Budget } from './queries.ts';
import { UsageBar } from './usage-bar.tsx';

const tones = { ok: 'ok', soft: 'warn', used_up: 'bad' } as const;

/** What a budget is of, in words. */
export function scopeName(t: TFunction<'budgets'>, { scope, subject, subject_name }: Budget): string {
  if (scope === 'global') return t('scope.global');
  return subject_name ?? subject ?? '–';
}

export function budgetColumns(t: TFunction<'budgets'>): readonly Column<Budget>[] {
  return [
    {
      id: 'scope',
      header: t('column.scope'),
      cell: (budget) => (
        <RowName className="max-sm:max-w-28">
          <span className="font-medium">{scopeName(t, budget)}</span>{' '}
          {budget.scope !== 'global' && (
            <span className="text-muted text-xs">{t(`scope.${budget.scope}`)}</span>
          )}
        </RowName>
      ),
      sortBy: (budget) => `${budget.scope} ${scopeName(t, budget)}`.toLowerCase(),
      narrow: true,
    },
    {
      id: 'limit',
      header: t('column.limit'),
      cell: (budget) => (
        <>
          <Amount budget={budget} value={budget.limit} />{' '}
          <span className="text-muted text-xs">
            {t(`metric.${budget.metric}`)} · {t(`period.${budget.period ?? 'moment'}`)}
          </span>
        </>
      ),
      sortBy: ({ limit }) => limit,
    },
    {
      id: 'used_percent',
      header: t('column.used'),
      cell: (budget) => <UsageBar budget={budget} />,
      sortBy: ({ used_percent }) => used_percent,
      narrow: true,
      width: '10rem',
    },
    {
      id: 'remaining',
      header: t('column.remaining'),
      cell: (budget) => <Amount budget={budget} value={budget.remaining} />,
      sortBy: ({ remaining }) => remaining,
      align: 'end',
    },
    {
      id: 'state',
      header: t('column.state'),
      cell: ({ limit_reached_at, soft_reached_at, state }) => (
        <span className="flex items-center gap-2">
          <StatusBadge tone={tones[state]}>{t(`state.${state}`)}</StatusBadge>
          {state !== 'ok' && (limit_reached_at ?? soft_reached_at) !== null && (
            <span className="text-muted text-xs">
              <RelativeTime at={limit_reached_at ?? soft_reached_at} />
            </span>
          )}
        </span>
      ),
      sortBy: ({ state }) => ['ok', 'soft', 'used_up'].indexOf(state),
    },
    {
      id: 'resets_at',
      header: t('column.resets'),
      cell: ({ resets_at }) => <RelativeTime at={resets_at} never="–" />,
      sortBy: ({ resets_at }) => resets_at,
    },
    {
      id: 'unpriced_requests',
      header: t('column.unpriced'),
      cell: ({ metric, unpriced, unpriced_requests }) =>
        metric === 'usd' ? (
          <span title={t(`unpriced.${unpriced}`)}>
            <Count value={unpriced_requests} />
          </span>
        ) : (
          '–'
        ),
      sortBy: ({ unpriced_requests }) => unpriced_requests,
      align: 'end',
      hidden: true,
    },
  ];
}

/** An amount in the unit of its budget. */
function Amount({ budget, value }: { budget: Pick<Budget, 'metric'>; value: number }) {
  return budget.metric === 'usd' ? <Money value={value} /> : <Count value={value} />;
}
