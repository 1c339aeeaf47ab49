import { CLOCK_TOLERANCE_MS } from '../../lib/time/clock.ts';
import type { TokenRecord } from './schema.ts';

/**
 * Whether a token has ended. The token of a login that has more time left than it was ever given is from before the clock
 * was set back, and would last longer than it may.
 */
export function isExpired(
  { expiresAt, kind, ttlSeconds }: Pick<TokenRecord, 'expiresAt' | 'kind' | 'ttlSeconds'>,
  now: number,
): boolean {
  if (expiresAt <= now) return true;
  return kind !== 'automation' && expiresAt - now > ttlSeconds * 1000 + CLOCK_TOLERANCE_MS;
}

/** Expiry is stored to the second, as it is shown (`expires_on`). */
export function wholeSecond(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}

/** `2026-11-21T10:00:00.000Z`, as all times of rows. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

export function isoTimeOrNull(ms: number | null): string | null {
  return ms === null ? null : isoTime(ms);
}
