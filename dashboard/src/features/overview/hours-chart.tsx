import { useTranslation } from 'react-i18next';
import type { UsageRow } from '../../../../src/ledger/schema.ts';
import { BarChart, type ChartBar } from '../../components/figures/bar-chart.tsx';
import { compact } from '../../lib/format/numbers.ts';
import { clockTime } from '../../lib/format/times.ts';

const HOUR_MS = 3_600_000;
const HOURS = 24;

/** Requests of the last 24 hours, what failed on top, in the reader's time of the day. */
export function HoursChart({ hours, now }: { hours: readonly UsageRow[]; now: number }) {
  const { i18n, t } = useTranslation('overview');
  const byStart = new Map(hours.map((row) => [Date.parse(row.from), row]));
  const last = Math.floor(now / HOUR_MS) * HOUR_MS;
  const bars: ChartBar[] = Array.from({ length: HOURS }, (_, index) => {
    const start = last - (HOURS - 1 - index) * HOUR_MS;
    const row = byStart.get(start);
    const failed = row?.failed ?? 0;
    const answered = (row?.requests ?? 0) - failed;
    const label = clockTime(start, i18n.language).replace(/:\d\d(?!.*:\d\d)/, '');
    return {
      key: String(start),
      label,
      description: t('chart.hour', { time: label, answered, failed }),
      values: [answered, failed],
    };
  });
  return (
    <BarChart
      label={t('chart.label')}
      bars={bars}
      counted
      series={[
        { name: t('chart.answered'), className: 'bg-series-1' },
        { name: t('chart.failed'), className: 'bg-bad' },
      ]}
      format={(value) => compact(value, i18n.language)}
    />
  );
}
