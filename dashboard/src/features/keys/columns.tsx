import { Link } from '@tanstack/react-router';
import type { TFunction } from 'i18next';
import type { UsageRow } from '../../../../src/ledger/schema.ts';
import { Count, Money, RelativeTime } from '../../components/figures/amounts.tsx';
import { StatusBadge } from '../../components/figures/status-badge.tsx';
import type { Column } from '../../components/tables/data-table.tsx';
import { LimitCell } from './limit-cell.tsx';
import type { Budget, Key } from './queries.ts';
import { tightestLimit } from './tightest-limit.ts';

interface Facts {
  budgets: readonly Budget[];
  /** What each key spent this month, by its id; undefined until it is known. */
  usage: ReadonlyMap<string | null, UsageRow> | undefined;
}

export function keyColumns(t: TFunction<'keys'>, { budgets, usage }: Facts): readonly Column<Key>[] {
  const requestsOf = ({ id }: Key) => (usage === undefined ? null : (usage.get(id)?.requests ?? 0));
  // Without a request nothing was spent; with requests of unknown price it is not known.
  const costOf = (key: Key) => (requestsOf(key) === 0 ? 0 : (usage?.get(key.id)?.cost_usd ?? null));
  return [
    {
      id: 'name',
      header: t('column.name'),
      cell: ({ name, prefix }) => (
        <span className="block">
          <span className="font-medium">{name}</span>
          <code className="block text-muted text-xs">{prefix}</code>
        </span>
      ),
      sortBy: ({ name }) => name.toLowerCase(),
      narrow: true,
    },
    {
      id: 'state',
      header: t('column.state'),
      cell: (key) => <KeyState row={key} t={t} />,
      sortBy: ({ disabled, expired }) => (expired ? 2 : disabled ? 1 : 0),
      narrow: true,
      width: '8rem',
    },
    {
      id: 'models',
      header: t('column.models'),
      cell: ({ models }) =>
        models === null ? t('allModels') : <span title={models.join('\n')}>{models.join(', ')}</span>,
    },
    {
      id: 'limit',
      header: t('column.limit'),
      cell: (key) => <LimitCell budget={tightestLimit(key, budgets)} />,
      sortBy: (key) => tightestLimit(key, budgets)?.used_percent ?? null,
      width: '14rem',
    },
    {
      id: 'cost',
      header: t('column.cost'),
      cell: (key) => <Money value={costOf(key)} />,
      sortBy: costOf,
      align: 'end',
    },
    {
      id: 'requests',
      header: t('column.requests'),
      cell: (key) => (
        <Link to="/requests" search={{ key: key.id, range: '30d' }} className="text-accent hover:underline">
          <Count value={requestsOf(key)} />
        </Link>
      ),
      sortBy: requestsOf,
      align: 'end',
    },
    {
      id: 'team',
      header: t('column.team'),
      cell: ({ owner, team }) => [team, owner].filter((one) => one !== null).join(' · ') || '–',
      sortBy: ({ team }) => team,
    },
    {
      id: 'labels',
      header: t('column.labels'),
      cell: ({ labels }) =>
        Object.entries(labels)
          .map(([name, value]) => `${name}=${value}`)
          .join(', ') || '–',
      hidden: true,
    },
    {
      id: 'budget_usd',
      header: t('column.budget'),
      cell: ({ budget_period, budget_usd }) =>
        budget_usd === null ? (
          '–'
        ) : (
          <>
            <Money value={budget_usd} /> / {t(`period.${budget_period ?? 'month'}`)}
          </>
        ),
      sortBy: ({ budget_usd }) => budget_usd,
      hidden: true,
    },
    {
      id: 'rpm',
      header: t('column.rpm'),
      cell: ({ rpm }) => rpm ?? '–',
      sortBy: ({ rpm }) => rpm,
      align: 'end',
      hidden: true,
    },
    {
      id: 'tpm',
      header: t('column.tpm'),
      cell: ({ tpm }) => tpm ?? '–',
      sortBy: ({ tpm }) => tpm,
      align: 'end',
      hidden: true,
    },
    {
      id: 'expires_at',
      header: t('column.expires'),
      cell: ({ expires_at }) => <RelativeTime at={expires_at} />,
      sortBy: ({ expires_at }) => expires_at,
      hidden: true,
    },
    {
      id: 'last_used_at',
      header: t('column.lastUsed'),
      cell: ({ last_used_at }) => <RelativeTime at={last_used_at} />,
      sortBy: ({ last_used_at }) => last_used_at,
    },
  ];
}

function KeyState({ row: { disabled, expired }, t }: { row: Key; t: TFunction<'keys'> }) {
  if (expired) return <StatusBadge tone="bad">{t('state.expired')}</StatusBadge>;
  if (disabled) return <StatusBadge tone="neutral">{t('state.disabled')}</StatusBadge>;
  return <StatusBadge tone="ok">{t('state.active')}</StatusBadge>;
}
