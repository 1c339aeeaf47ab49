import type { TFunction } from 'i18next';
import { RelativeTime } from '../../components/figures/amounts.tsx';
import type { Column } from '../../components/tables/data-table.tsx';
import type { Service } from './queries.ts';
import { ServiceActions } from './service-actions.tsx';
import { HealthBadge, problemOf, problemText, StateBadge } from './service-state.tsx';

export function serviceColumns(t: TFunction<'services'>): readonly Column<Service>[] {
  return [
    {
      id: 'name',
      header: t('column.name'),
      cell: ({ description, name }) => (
        <span className="font-medium" title={description}>
          {name}
        </span>
      ),
      sortBy: ({ name }) => name.toLowerCase(),
      narrow: true,
    },
    {
      id: 'kind',
      header: t('column.kind'),
      cell: ({ kind }) => t(`kind.${kind}`),
      sortBy: ({ kind }) => kind,
    },
    {
      id: 'state',
      header: t('column.state'),
      cell: (service) => <StateBadge service={service} />,
      sortBy: ({ state }) => state,
      narrow: true,
    },
    {
      id: 'since',
      header: t('column.since'),
      cell: ({ state_changed_at }) => <RelativeTime at={state_changed_at} never="–" />,
      sortBy: ({ state_changed_at }) => state_changed_at,
    },
    {
      id: 'health',
      header: t('column.health'),
      cell: ({ health }) => <HealthBadge status={health.status} />,
      sortBy: ({ health }) => health.status,
    },
    {
      id: 'problem',
      header: t('column.problem'),
      cell: (service) => {
        const problem = problemOf(service);
        if (problem === null) return '–';
        const text = problemText(t, problem);
        return <span title={text}>{text}</span>;
      },
    },
    {
      id: 'restarts',
      header: t('column.restarts'),
      cell: ({ restarts }) => restarts.count,
      sortBy: ({ restarts }) => restarts.count,
      align: 'end',
      hidden: true,
    },
    {
      id: 'actions',
      header: '',
      cell: (service) => <ServiceActions row={service} />,
      narrow: true,
      width: '3.5rem',
    },
  ];
}
