import { timeFormat } from '../../lib/format/formatters.ts';
import type { CostRange } from './search.ts';

/** The step of a chart over a range, as the API groups by it. */
export type Step = 'hour' | 'day' | 'week' | 'month';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** 1970 began on a Thursday. */
const THURSDAY = 3;

export const steps: Readonly<Record<CostRange, Step>> = {
  '24h': 'hour',
  '7d': 'day',
  month: 'day',
  '30d': 'day',
  '12w': 'week',
  '12m': 'month',
};

/** Where a range that ends now begins, in milliseconds since the epoch: the start of an hour, day, week or month of UTC. */
export function startOf(range: CostRange, now: number): number {
  const date = new Date(now);
  const day = Math.floor(now / DAY_MS) * DAY_MS;
  switch (range) {
    case '24h':
      return Math.floor(now / HOUR_MS) * HOUR_MS - 23 * HOUR_MS;
    case '7d':
      return day - 6 * DAY_MS;
    case '30d':
      return day - 29 * DAY_MS;
    case '12w':
      return day - ((day / DAY_MS + THURSDAY) % 7) * DAY_MS - 11 * 7 * DAY_MS;
    case 'month':
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
    case '12m':
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - 11, 1);
  }
}

/** The starts of all steps of a range up to now, in milliseconds since the epoch, also of those in which nothing happened. */
export function stepsOf(range: CostRange, now: number): number[] {
  const starts: number[] = [];
  for (let start = startOf(range, now); start <= now; start = endOf(steps[range], start)) starts.push(start);
  return starts;
}

/** Where the step ends that begins at `start`. */
export function endOf(step: Step, start: number): number {
  const date = new Date(start);
  switch (step) {
    case 'hour':
      return start + HOUR_MS;
    case 'day':
      return start + DAY_MS;
    case 'week':
      return start + 7 * DAY_MS;
    case 'month':
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
  }
}

/** The name of a step in UTC, short for an axis. */
export function stepLabel(step: Step, start: number, locale: string): string {
  const form: Intl.DateTimeFormatOptions =
    step === 'hour'
      ? { hour: '2-digit', minute: '2-digit' }
      : step === 'month'
        ? { month: 'short', year: 'numeric' }
        : { day: 'numeric', month: 'short' };
  return timeFormat(locale, { ...form, timeZone: 'UTC' }).format(start);
}
