import type { TFunction } from 'i18next';
import { Money, RelativeTime } from '../../components/amounts.tsx';
import type { Column } from '../../components/data-table.tsx';
import { StatusBadge } from '../../components/status-badge.tsx';
import type { Key } from './queries.ts';

export function keyColumns(t: TFunction<'keys'>): readonly Column<Key>[] {
  return [
    {
      id: 'name',
      header: t('column.name'),
      cell: ({ name, prefix }) => (
        <span className="block">
          <span className="font-medium">{name}</span>{' '}
          <code className="text-muted text-xs max-sm:block">{prefix}</code>
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
