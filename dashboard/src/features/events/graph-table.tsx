import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Column, DataTable, type Sort } from '../../components/tables/data-table.tsx';
import { useFlowText } from './flow-text.ts';
import type { Graph, GraphNode } from './graph.ts';

/** The map as a table: a line for each source, channel and trigger. */
export function GraphTable({ graph: { edges, nodes } }: { graph: Graph }) {
  const { t } = useTranslation('events');
  const flowText = useFlowText();
  const [sort, setSort] = useState<Sort | null>(null);
  const columns = useMemo<readonly Column<GraphNode>[]>(() => {
    const nameOf = (key: string) => key.slice(key.indexOf(':') + 1);
    return [
      {
        id: 'id',
        header: t('column.name'),
        cell: ({ id }) => <span className="font-medium">{id}</span>,
        sortBy: ({ id }) => id,
        narrow: true,
      },
      {
        id: 'kind',
        header: t('column.kind'),
        cell: ({ kind, type }) => `${t(`kind.${kind}.one`)}${type === null ? '' : ` (${type})`}`,
        sortBy: ({ kind }) => kind,
        narrow: true,
      },
      {
        id: 'out',
        header: t('column.leadsTo'),
        cell: ({ key }) =>
          edges
            .filter(({ from }) => from === key)
            .map((edge) => `${nameOf(edge.to)} (${flowText(edge)})`)
            .join(', ') || '–',
      },
      {
        id: 'filters',
        header: t('column.filter'),
        cell: ({ key }) => {
          const filters = edges.filter(({ to }) => to === key).flatMap((edge) => edge.filters);
          return <code className="text-xs">{filters.join(' | ') || '–'}</code>;
        },
      },
      {
        id: 'deadLetters',
        header: t('column.deadLetters'),
        cell: ({ deadLetters, id, kind }) =>
          kind !== 'trigger' ? (
            '–'
          ) : deadLetters === 0 ? (
            0
          ) : (
            <Link to="/events" search={{ view: 'letters', trigger: id }} className="text-bad underline">
              {deadLetters}
            </Link>
          ),
        sortBy: ({ deadLetters }) => deadLetters,
        align: 'end',
      },
      {
        id: 'problem',
        header: t('column.problem'),
        cell: ({ problem }) => <span title={problem ?? undefined}>{problem ?? '–'}</span>,
      },
    ];
  }, [edges, flowText, t]);
  return (
    <DataTable
      label={t('map.label')}
      columns={columns}
      rows={nodes}
      rowId={({ key }) => key}
      sort={sort}
      onSort={setSort}
      empty={null}
    />
  );
}
