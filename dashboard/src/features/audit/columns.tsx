import type { TFunction } from 'i18next';
import { RelativeTime } from '../../components/figures/amounts.tsx';
import type { Column } from '../../components/tables/data-table.tsx';
import { OutcomeBadge } from './outcome-badge.tsx';
import type { AuditRecord } from './queries.ts';

export function auditColumns(t: TFunction<'audit'>): readonly Column<AuditRecord>[] {
  return [
    {
      id: 'action',
      header: t('column.what'),
      cell: ({ action }) => <code className="text-xs">{action}</code>,
      narrow: true,
    },
    { id: 'time', header: t('column.time'), cell: ({ time }) => <RelativeTime at={time} />, narrow: true },
    {
      id: 'actor',
      header: t('column.who'),
      cell: ({ actor }) => (
        <span title={t(`via.${actor.via}`)}>
          {actor.name ?? <span className="text-muted">{t(`via.${actor.via}`)}</span>}
        </span>
      ),
    },
    {
      id: 'target',
      header: t('column.target'),
      cell: ({ target }) => <span title={target ?? undefined}>{target ?? '–'}</span>,
    },
    { id: 'outcome', header: t('column.outcome'), cell: (record) => <OutcomeBadge record={record} /> },
    { id: 'address', header: t('column.from'), cell: ({ address }) => address ?? '–' },
  ];
}
