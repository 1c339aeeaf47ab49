import type { Grouping, TimeGrouping } from './groupings.ts';

/** How time is cut for sums: hours, days, weeks from Monday and months, as clocks and calendars of one time zone have them. */
export interface TimeBuckets {
  /** Every bucket begins and ends at a multiple of so many milliseconds since the epoch. */
  stepMs: number;
  /** Where the bucket begins that a moment lies in. All times are milliseconds since the epoch. */
  startOf(at: number): number;
  /** Where the next bucket begins. */
  endOf(start: number): number;
  /** `2026-11-21`, `2026-11-21T10`, `2026-11`; a week by its Monday, an hour outside UTC with its distance from it. */
  labelOf(start: number): string;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;
/** 1970 began on a Thursday. */
const THURSDAY = 3;

/** The one grouping by time among several; null where there is none. */
export function timeGroupingIn(by: readonly Grouping[]): TimeGrouping | null {
  return by.find((one) => isTime(one)) ?? null;
}

function isTime(grouping: Grouping): grouping is TimeGrouping {
  return grouping === 'hour' || grouping === 'day' || grouping === 'week' || grouping === 'month';
}

/** Whether the machine knows a time zone by this name of the IANA database, e.g. `Europe/Vienna`. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    // An offset such as +01:00 is no place, and has no summer time.
    return /^[A-Za-z]/.test(name);
  } catch {
    return false;
  }
}

/** @param timeZone a name of the IANA database */
export function timeBuckets(kind: TimeGrouping, timeZone: string = 'UTC'): TimeBuckets {
  const offset = timeZone === 'UTC' ? () => 0 : offsetsOf(timeZone);
  /** The moment at which local clocks show so much. Where they skip it, the moment of the skip. */
  const momentOf = (local: number): number => {
    const guess = local - offset(local - offset(local));
    return guess + offset(guess) === local ? guess : local - offset(local - dayMs);
  };
  const floor = (local: number) => floorOf(kind, local);
  const longestStep = kind === 'hour' ? hourMs : dayMs;
  return {
    // Distances from UTC are multiples of a quarter of an hour.
    stepMs: timeZone === 'UTC' ? longestStep : 15 * minuteMs,
    startOf(at) {
      const local = at + offset(at);
      // Twice in autumn clocks show the same hour: each is its own.
      return kind === 'hour' ? floor(local) - offset(at) : momentOf(floor(local));
    },
    endOf(start) {
      if (kind === 'hour') return start + hourMs;
      return momentOf(nextOf(kind, floor(start + offset(start))));
    },
    labelOf(start) {
      const text = new Date(start + offset(start)).toISOString();
      if (kind === 'month') return text.slice(0, 7);
      if (kind !== 'hour') return text.slice(0, 10);
      return timeZone === 'UTC' ? text.slice(0, 13) : `${text.slice(0, 13)}${offsetText(offset(start))}`;
    },
  };
}

function floorOf(kind: TimeGrouping, local: number): number {
  switch (kind) {
    case 'hour':
      return Math.floor(local / hourMs) * hourMs;
    case 'day':
      return Math.floor(local / dayMs) * dayMs;
    case 'week': {
      const days = Math.floor(local / dayMs);
      return (days - ((((days + THURSDAY) % 7) + 7) % 7)) * dayMs;
    }
    case 'month': {
      const date = new Date(local);
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
    }
  }
}

function nextOf(kind: Exclude<TimeGrouping, 'hour'>, local: number): number {
  if (kind !== 'month') return local + (kind === 'day' ? dayMs : 7 * dayMs);
  const date = new Date(local);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

/** How far the clocks of a time zone are ahead of UTC at a moment, in milliseconds. */
function offsetsOf(timeZone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  });
  const remembered = new Map<number, number>();
  return (at) => {
    // Clocks change at multiples of a quarter of an hour.
    const quarter = Math.floor(at / (15 * minuteMs)) * 15 * minuteMs;
    const known = remembered.get(quarter);
    if (known !== undefined) return known;
    const parts = new Map(format.formatToParts(quarter).map(({ type, value }) => [type, Number(value)]));
    const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
    const local = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'));
    remembered.set(quarter, local - quarter);
    return local - quarter;
  };
}

/** `+02:00` */
function offsetText(ms: number): string {
  const minutes = Math.abs(Math.round(ms / minuteMs));
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60].map((one) => String(one).padStart(2, '0'));
  return `${ms < 0 ? '-' : '+'}${hours}:${rest}`;
}
