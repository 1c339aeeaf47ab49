import { useTranslation } from 'react-i18next';
import { Select } from './field.tsx';

/** How far back a page looks, as its address has it. */
export type TimeRange = '1h' | '24h' | '7d' | '30d';

export const timeRanges: readonly TimeRange[] = ['1h', '24h', '7d', '30d'];

const HOUR_MS = 3_600_000;

const lengths: Readonly<Record<TimeRange, number>> = {
  '1h': HOUR_MS,
  '24h': 24 * HOUR_MS,
  '7d': 7 * 24 * HOUR_MS,
  '30d': 30 * 24 * HOUR_MS,
};

/** The start of a range that ends now, in milliseconds since the epoch, to the minute so that it does not change with every look. */
export function startOfRange(range: TimeRange, now: number): number {
  return Math.floor((now - lengths[range]) / 60_000) * 60_000;
}

/** Chooses how far back a page looks. Usage is summed up by UTC, which the page says beside it. */
export function TimeRangePicker({ value, onChange }: { value: TimeRange; onChange(range: TimeRange): void }) {
  const { t } = useTranslation();
  return (
    <Select
      label={t('range.label')}
      value={value}
      onChange={(event) => onChange(event.target.value as TimeRange)}
      choices={timeRanges.map((range) => ({ value: range, label: t(`range.${range}`) }))}
    />
  );
}
