import type { Retry } from '../config/config.ts';

const LONGEST_MS = 3_600_000;
const JITTER = 0.1;

/**
 * The wait before a retry: the delay times its number, or doubled with each; at most an hour, then up to a tenth more or less, so
 * that events that failed together do not come back together.
 * @param nth 1 for the first retry
 * @param afterMs what the receiver asked for: it never is shorter
 * @param random from 0 to 1
 */
export function retryDelay({ delayMs, growth }: Retry, nth: number, afterMs: number, random: number): number {
  const factor = growth === 'linear' ? nth : 2 ** Math.min(nth - 1, 60);
  const delay = Math.min(delayMs * factor, LONGEST_MS);
  return Math.round(Math.max(delay * (1 + JITTER * (2 * random - 1)), afterMs));
}
