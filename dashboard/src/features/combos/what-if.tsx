import { useTranslation } from 'react-i18next';
import { Count, Duration, Money } from '../../components/figures/amounts.tsx';
import type { Simulation } from './queries.ts';

type Outcome = Simulation['actual'];

const lines: readonly { label: string; cell(outcome: Outcome): React.ReactNode }[] = [
  { label: 'whatIf.cost', cell: ({ cost_usd }) => <Money value={cost_usd} /> },
  { label: 'whatIf.unpriced', cell: ({ unpriced }) => <Count value={unpriced} /> },
  { label: 'whatIf.failed', cell: ({ failed }) => <Count value={failed} /> },
  { label: 'whatIf.fallbacks', cell: ({ fallbacks }) => <Count value={fallbacks} /> },
  { label: 'whatIf.median', cell: ({ p50_ms }) => <Duration value={p50_ms} /> },
  { label: 'whatIf.slowest', cell: ({ p95_ms }) => <Duration value={p95_ms} /> },
  { label: 'whatIf.ttft', cell: ({ ttft_p50_ms }) => <Duration value={ttft_p50_ms} /> },
];

/** What the last week would have come to with a combo, beside what it came to. */
export function WhatIf({ result }: { result: Simulation }) {
  const { t } = useTranslation('combos');
  const { actual, left_out, requests, simulated, targets, truncated, unchanged } = result;
  if (requests + left_out === 0) return <p className="text-muted">{t('whatIf.nothing')}</p>;
  return (
    <section aria-label={t('whatIf.title')} className="rounded-md border border-line p-3">
      <p className="mb-2 text-muted">
        {t('whatIf.about', { count: requests, unchanged, leftOut: left_out })}
        {truncated && ` ${t('whatIf.truncated')}`}
      </p>
      <table className="w-full text-sm">
        <thead>
          <tr className="text-muted text-xs">
            <td />
            <th scope="col" className="px-2 text-end font-medium">
              {t('whatIf.actual')}
            </th>
            <th scope="col" className="ps-2 text-end font-medium">
              {t('whatIf.simulated')}
            </th>
          </tr>
        </thead>
        <tbody>
          {lines.map(({ cell, label }) => (
            <tr key={label}>
              <th scope="row" className="py-0.5 text-start font-normal">
                {t(label)}
              </th>
              <td className="px-2 text-end">{cell(actual)}</td>
              <td className="ps-2 text-end font-medium">{cell(simulated)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <ul className="mt-2 text-muted text-xs">
        {targets.map(({ connection, cost_usd, model, requests: share }) => (
          <li key={`${connection}/${model}`} className="flex justify-between gap-3">
            <span className="truncate">
              {connection}/{model}
            </span>
            <span className="shrink-0">
              {t('whatIf.share', { count: share })} · <Money value={cost_usd} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
