import { GatewayError } from '../../lib/error.ts';

/** Bounds how often costly things are done. */
export interface RateLimiter {
  /**
   * Counts one of `perMinute` that `name` may do. As many may come at once, and then one after the other.
   * @throws GatewayError `rate_limit_exceeded` with the seconds to wait
   */
  take(name: string, perMinute: number): void;
}

interface Bucket {
  /** How many may come at this moment. */
  remaining: number;
  /** When that was so, in milliseconds since the epoch. */
  at: number;
}

const MINUTE_MS = 60_000;
/** Names that are kept; a minute without a word makes one forgettable. */
const MAX_NAMES = 10_000;

export function createRateLimiter(now: () => number): RateLimiter {
  const buckets = new Map<string, Bucket>();
  return {
    take(name, perMinute) {
      const time = now();
      const before = buckets.get(name) ?? { remaining: perMinute, at: time };
      const gained = (Math.max(0, time - before.at) / MINUTE_MS) * perMinute;
      const remaining = Math.min(perMinute, before.remaining + gained);
      if (remaining < 1)
        throw new GatewayError(
          'rate_limit_exceeded',
          `This can be done at most ${perMinute} times a minute: try again later`,
          {
            retryAfter: Math.ceil(((1 - remaining) * MINUTE_MS) / perMinute / 1000),
          },
        );
      // The name goes to the end, so that those that were silent longest stand first.
      buckets.delete(name);
      buckets.set(name, { remaining: remaining - 1, at: time });
      for (const [old, { at }] of buckets) {
        if (buckets.size <= MAX_NAMES && time - at < MINUTE_MS) break;
        buckets.delete(old);
      }
    },
  };
}
