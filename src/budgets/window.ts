import type { BudgetPeriod } from './schema.ts';

/** How a budget's time is cut into buckets, each named by the millisecond with which it begins. */
export interface Window {
  kind: 'rolling' | 'calendar' | 'moment';
  /** The bucket of a moment. */
  bucketAt(at: number): number;
  /** Whether what is in a bucket counts at a moment. */
  counts(bucket: number, at: number): boolean;
  /** From when on what was used counts at a moment. */
  from(at: number): number;
  /** Parts of this length lie in one bucket each. */
  stepMs: number;
  /** When a bucket stops to count; infinite where time does not end it. */
  endOf(bucket: number): number;
  /** Beyond this age a bucket may be forgotten. */
  keepMs: number;
}

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
/** 1970 began on a Thursday. */
const THURSDAY = 3;

/** A span up to now, as sharp as its steps: a bucket counts until the last of it has left the span. */
function rolling(spanMs: number, stepMs: number): Window {
  return {
    kind: 'rolling',
    bucketAt: (at) => Math.floor(at / stepMs) * stepMs,
    // What lies ahead was counted before the clock was put back.
    counts: (bucket, at) => bucket <= at && at < bucket + stepMs + spanMs,
    from: (at) => Math.floor((at - spanMs) / stepMs) * stepMs,
    stepMs,
    endOf: (bucket) => bucket + stepMs + spanMs,
    keepMs: 2 * spanMs,
  };
}

function calendar(bucketAt: (at: number) => number, endOf: (bucket: number) => number): Window {
  return {
    kind: 'calendar',
    bucketAt,
    counts: (bucket, at) => bucketAt(at) === bucket,
    from: bucketAt,
    stepMs: hour,
    endOf,
    keepMs: 2 * (endOf(0) - bucketAt(0)),
  };
}

const startOfWeek = (at: number): number => {
  const days = Math.floor(at / day);
  return (days - ((((days + THURSDAY) % 7) + 7) % 7)) * day;
};

const startOfMonth = (at: number, later = 0): number => {
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + later, 1);
};

const windows: Readonly<Record<BudgetPeriod, Window>> = {
  minute: rolling(minute, second),
  hour: rolling(hour, minute),
  day: calendar(
    (at) => Math.floor(at / day) * day,
    (bucket) => bucket + day,
  ),
  week: calendar(startOfWeek, (bucket) => bucket + 7 * day),
  month: calendar(startOfMonth, (bucket) => startOfMonth(bucket, 1)),
};

/** What is going on at one moment: a single bucket for ever. */
const moment: Window = {
  kind: 'moment',
  bucketAt: () => 0,
  counts: () => true,
  from: () => 0,
  stepMs: hour,
  endOf: () => Number.POSITIVE_INFINITY,
  keepMs: Number.POSITIVE_INFINITY,
};

/** The window of a period; of none, the moment. */
export function windowOf(period: BudgetPeriod | null): Window {
  return period === null ? moment : windows[period];
}
