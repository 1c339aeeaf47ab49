import type { TFunction } from 'i18next';
import type { ToolRun } from '../../../../src/ledger/schema.ts';
import { Count, Duration, Money, RelativeTime } from '../../components/figures/amounts.tsx';
import type { Column } from '../../components/tables/data-table.tsx';

/** The columns of a table of the runs of tools. */
export function runColumns(t: TFunction<'requests'>): readonly Column<ToolRun>[] {
  return [
    {
      id: 'started_at',
      header: t('run.started'),
      cell: ({ started_at }) => <RelativeTime at={started_at} />,
      width: '8rem',
    },
    {
      id: 'client',
      header: t('column.client'),
      cell: ({ client, id }) => (
        <span className="block truncate" title={id}>
          <span className="font-medium">{client ?? '–'}</span>{' '}
          <code className="text-muted text-xs">{id.slice(0, 8)}</code>
        </span>
      ),
      narrow: true,
    },
    { id: 'key', header: t('column.key'), cell: ({ key_name }) => key_name ?? t('removedKey') },
    {
      id: 'requests',
      header: t('run.requests'),
      cell: ({ requests }) => <Count value={requests} />,
      align: 'end',
      narrow: true,
    },
    {
      id: 'failed',
      header: t('run.failed'),
      cell: ({ failed }) => (
        <span className={failed > 0 ? 'text-bad' : 'text-muted'}>
          <Count value={failed} />
        </span>
      ),
      align: 'end',
    },
    {
      id: 'input_tokens',
      header: t('column.input'),
      cell: ({ input_tokens }) => <Count value={input_tokens} />,
      align: 'end',
    },
    {
      id: 'output_tokens',
      header: t('column.output'),
      cell: ({ output_tokens }) => <Count value={output_tokens} />,
      align: 'end',
    },
    {
      id: 'cost_usd',
      header: t('column.cost'),
      cell: ({ cost_usd }) => <Money value={cost_usd} />,
      align: 'end',
      narrow: true,
    },
    {
      id: 'duration',
      header: t('column.duration'),
      cell: ({ ended_at, started_at }) => <Duration value={Date.parse(ended_at) - Date.parse(started_at)} />,
      align: 'end',
    },
  ];
}
