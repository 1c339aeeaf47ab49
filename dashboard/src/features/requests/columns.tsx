import type { TFunction } from 'i18next';
import { Count, Duration, Money, RelativeTime } from '../../components/figures/amounts.tsx';
import type { Column } from '../../components/tables/data-table.tsx';
import { OutcomeBadge } from './outcome-badge.tsx';
import type { Request } from './queries.ts';

/** The columns of a table of requests. Their ids are the API's attributes, by which the server orders. */
export function requestColumns(
  t: TFunction<'requests'>,
  keyNames: ReadonlyMap<string, string>,
): readonly Column<Request>[] {
  return [
    {
      id: 'started_at',
      header: t('column.time'),
      cell: ({ started_at }) => <RelativeTime at={started_at} />,
      sortBy: ({ started_at }) => started_at,
      width: '6.5rem',
    },
    {
      id: 'status',
      header: t('column.status'),
      cell: (request) => <OutcomeBadge request={request} />,
      sortBy: ({ status }) => status,
      narrow: true,
      width: '5rem',
    },
    {
      id: 'requested_model',
      header: t('column.model'),
      cell: (request) => <ModelNames request={request} />,
      sortBy: ({ requested_model }) => requested_model,
      narrow: true,
    },
    {
      id: 'connection',
      header: t('column.connection'),
      cell: ({ connection }) => <Name text={connection ?? '–'} />,
      sortBy: ({ connection }) => connection,
      // Its counts stand beside the table, and the detail has it.
      hidden: true,
    },
    {
      id: 'key_id',
      header: t('column.key'),
      cell: ({ key_id, key_name }) => (
        <Name text={key_id === null ? '–' : (keyNames.get(key_id) ?? key_name ?? t('removedKey'))} />
      ),
    },
    {
      id: 'input_tokens',
      header: t('column.input'),
      cell: ({ input_tokens }) => <Count value={input_tokens} unknown={t('noUsage')} />,
      sortBy: ({ input_tokens }) => input_tokens,
      align: 'end',
    },
    {
      id: 'output_tokens',
      header: t('column.output'),
      cell: ({ output_tokens }) => <Count value={output_tokens} unknown={t('noUsage')} />,
      sortBy: ({ output_tokens }) => output_tokens,
      align: 'end',
    },
    {
      id: 'cost_usd',
      header: t('column.cost'),
      cell: ({ cost_usd }) => <Money value={cost_usd} />,
      sortBy: ({ cost_usd }) => cost_usd,
      align: 'end',
    },
    {
      id: 'ttft_ms',
      header: t('column.ttft'),
      cell: ({ ttft_ms }) => <Duration value={ttft_ms} unknown={t('noFirstByte')} />,
      sortBy: ({ ttft_ms }) => ttft_ms,
      align: 'end',
      hidden: true,
    },
    {
      id: 'duration_ms',
      header: t('column.duration'),
      cell: ({ duration_ms }) => <Duration value={duration_ms} />,
      sortBy: ({ duration_ms }) => duration_ms,
      align: 'end',
    },
    {
      id: 'attempts',
      header: t('column.attempts'),
      cell: ({ attempts }) => <Count value={attempts} />,
      sortBy: ({ attempts }) => attempts,
      align: 'end',
      hidden: true,
    },
  ];
}

/** A name that may be long. */
function Name({ text }: { text: string }) {
  return (
    <span className="block max-w-28 truncate" title={text}>
      {text}
    </span>
  );
}

/** What was asked for, and what answered where that is another. */
function ModelNames({ request: { requested_model, model, provider } }: { request: Request }) {
  const served = model === null ? null : `${provider ?? ''}/${model}`;
  const same =
    requested_model === null ||
    model === null ||
    requested_model === model ||
    requested_model.endsWith(`/${model}`);
  return (
    <span className="block max-w-56 truncate" title={`${requested_model ?? '–'} → ${served ?? '–'}`}>
      {requested_model ?? '–'}
      {!same && <span className="text-muted"> → {model}</span>}
    </span>
  );
}
