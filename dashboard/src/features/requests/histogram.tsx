import { useTranslation } from 'react-i18next';
import type { RequestCount } from '../../../../src/ledger/schema.ts';
import { BarChart, type ChartBar } from '../../components/figures/bar-chart.tsx';
import { timeFormat } from '../../lib/format/formatters.ts';
import { compact } from '../../lib/format/numbers.ts';

const DAY_MS = 86_400_000;

interface HistogramProps {
  counts: readonly RequestCount[];
  /** Shows the requests of a bar alone. */
  onZoom(from: string, to: string): void;
}

/** The requests that the filter leaves, over time, what failed on top. A bar leads to its requests. */
export function Histogram({ counts, onZoom }: HistogramProps) {
  const { i18n, t } = useTranslation('requests');
  const steps = counts.filter(({ attribute }) => attribute === 'started_at');
  const [first] = steps;
  const long =
    first !== undefined && Date.parse(first.to ?? '') - Date.parse(first.value ?? '') >= DAY_MS / 4;
  const format = timeFormat(
    i18n.language,
    long ? { day: 'numeric', month: 'short' } : { hour: '2-digit', minute: '2-digit' },
  );
  const bars: ChartBar[] = steps.map(({ failed, requests, value }) => {
    const label = format.format(Date.parse(value ?? ''));
    return {
      key: value ?? '',
      label,
      description: t('histogram.bar', { time: label, answered: requests - failed, failed }),
      values: [requests - failed, failed],
    };
  });
  return (
    <BarChart
      label={t('histogram.label')}
      bars={bars}
      counted
      height={72}
      series={[
        { name: t('histogram.answered'), className: 'bg-series-1' },
        { name: t('histogram.failed'), className: 'bg-bad' },
      ]}
      format={(value) => compact(value, i18n.language)}
      onOpen={({ key }) => {
        const step = steps.find(({ value }) => value === key);
        if (step?.to !== null && step !== undefined) onZoom(key, step.to);
      }}
    />
  );
}
