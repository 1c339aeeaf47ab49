import { relativeFormat, timeFormat } from './formatters.ts';

/** How far the time of the page (`useNow`) may be behind. */
const STEP_MS = 10_000;

/** 5 minutes ago, in 3 days. */
export function relativeTime(at: number, now: number, locale: string): string {
  const ahead = at - now;
  // The time of the page moves in steps, so that what has just happened may be a little ahead of it.
  const seconds = ahead > 0 && ahead < STEP_MS ? 0 : ahead / 1000;
  const size = Math.abs(seconds);
  const format = relativeFormat(locale, { numeric: 'auto', style: 'short' });
  if (size < 60) return format.format(Math.round(seconds), 'second');
  if (size < 3600) return format.format(Math.round(seconds / 60), 'minute');
  if (size < 86_400) return format.format(Math.round(seconds / 3600), 'hour');
  return format.format(Math.round(seconds / 86_400), 'day');
}

/** Date and time to the second with the time zone, for hovering. */
export function exactTime(at: number, locale: string): string {
  return timeFormat(locale, { dateStyle: 'medium', timeStyle: 'long' }).format(at);
}

/** The time of the day to the second. */
export function clockTime(at: number, locale: string): string {
  return timeFormat(locale, { hour: '2-digit', minute: '2-digit', second: '2-digit' }).format(at);
}
