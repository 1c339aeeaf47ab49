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
export function retryDelay(retry: Retry, nth: number, afterMs: number, random: number): number {
  return Math.round(Math.max(plainDelay(retry, nth) * (1 + JITTER * (2 * random - 1)), afterMs));
}

/** How long all retries of an event wait together, at most, where no receiver asks for more. */
export function longestRetryMs(retry: Retry): number {
  let sum = 0;
  for (let nth = 1; nth <= retry.max; nth += 1) {
    const delay = plainDelay(retry, nth);
    // From here on all are the same.
    if (delay === LONGEST_MS || delay === 0) return withJitter(sum + delay * (retry.max - nth + 1));
    sum += delay;
  }
  return withJitter(sum);
}

const withJitter = (ms: number): number => Math.round(ms * (1 + JITTER));

function plainDelay({ delayMs, growth }: Retry, nth: number): number {
  const factor = growth === 'linear' ? nth : 2 ** Math.min(nth - 1, 60);
  return Math.min(delayMs * factor, LONGEST_MS);
}
