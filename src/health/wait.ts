import type { IncomingHttpHeaders } from 'node:http';

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
/** Numbers above these are points in time: seconds and milliseconds since the epoch. */
const EPOCH_S = 1e9;
const EPOCH_MS = 1e12;

/**
 * The longest wait that is passed on: the longest quotas are monthly. What names more, such as a `retry-after` of
 * 99999999999999, is a mistake, and no date that JavaScript can say (ECMA-262, 21.4.1.1).
 */
export const LONGEST_WAIT_MS = 31 * 24 * 3_600_000;

/**
 * When an upstream may be tried again, in milliseconds since the epoch; null when it does not say, or says what
 * cannot be (a time in the past, a negative number). At most `LONGEST_WAIT_MS` from now. Reads `retry-after-ms` and its Azure sibling, `retry-after` as
 * seconds, date or epoch, then the words "try again in 7.66s" of OpenAI and Groq.
 * @param toldSeconds what the body said where a format has a place for it (Google's `RetryInfo`)
 */
export function retryAt(
  headers: IncomingHttpHeaders,
  message: string,
  toldSeconds: number | null,
  now: number,
): number | null {
  for (const name of ['retry-after-ms', 'x-ms-retry-after-ms']) {
    const at = after(Number(one(headers[name]) ?? Number.NaN), now);
    if (at !== null) return at;
  }
  const header = one(headers['retry-after']);
  const at = header === null ? null : parseRetryTime(header, now);
  if (at !== null) return at;
  if (toldSeconds !== null) return after(toldSeconds * 1000, now);
  const words =
    /(?:try again|retry(?: after)?|available again) in (?:about )?((?:\d{1,15}(?:\.\d{1,15})?\s?[smhd][a-z]*\s?)+)/i.exec(
      message,
    )?.[1];
  return words === undefined ? null : after(durationOf(words) ?? Number.NaN, now);
}

/**
 * A point in the future as vendors write it: RFC 3339 and HTTP dates, durations (`6m0s`, `20ms`), seconds from now, and
 * seconds or milliseconds since the epoch. Null for anything else.
 */
export function parseRetryTime(text: string, now: number): number | null {
  const number = text.trim() === '' ? Number.NaN : Number(text);
  if (!Number.isNaN(number)) {
    if (number >= EPOCH_MS) return future(number, now);
    return number >= EPOCH_S ? future(number * 1000, now) : after(number * 1000, now);
  }
  const duration = durationOf(text);
  if (duration !== null) return after(duration, now);
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : future(date, now);
}

/** Milliseconds of `1m26.4s`, `2h 5m`; null for anything else. */
function durationOf(text: string): number | null {
  const parts = [...text.matchAll(/(\d{1,15}(?:\.\d{1,15})?)\s?(ms|[smhd])[a-z]*/gi)];
  const [first] = parts;
  if (first === undefined || !text.trim().startsWith(first[0])) return null;
  return parts.reduce(
    (sum, [, amount, unit = '']) => sum + Number(amount) * (UNIT_MS[unit.toLowerCase()] ?? 0),
    0,
  );
}

function after(ms: number, now: number): number | null {
  return Number.isFinite(ms) && ms > 0 ? Math.ceil(now + Math.min(ms, LONGEST_WAIT_MS)) : null;
}

function future(at: number, now: number): number | null {
  return after(at - now, now);
}

function one(value: string | string[] | undefined): string | null {
  const first = Array.isArray(value) ? value[0] : value;
  return first === undefined || first === '' ? null : first;
}
