import type { ConcurrencyLimit, RateLimit } from '../../config/config.ts';
import type { Clock } from '../clock.ts';
import type { Limit } from '../limit.ts';
import { createGlobalConcurrencyLimit } from './concurrency-limit.ts';
import type { Outage } from './outage.ts';
import { createGlobalRateLimit } from './rate-limit.ts';
import type { LimitStore } from './store.ts';

/** Makes the limits that several gateways hold together. */
export interface GlobalLimits {
  /** @param shared what all gateways know the limit by */
  rateLimit(limit: RateLimit, shared: string): Limit;
  concurrencyLimit(limit: ConcurrencyLimit, shared: string, onRoom: () => void): Limit;
}

export interface GlobalLimitsInput {
  readonly store: LimitStore;
  readonly outage: Outage;
  readonly clock: Clock;
  /** How long a permit of a killed gateway is missing, in milliseconds. */
  readonly permitTtlMs: number;
  newId(): string;
}

export function createGlobalLimits(input: GlobalLimitsInput): GlobalLimits {
  const { clock, newId, outage, permitTtlMs, store } = input;
  return {
    rateLimit: (limit, shared) =>
      createGlobalRateLimit({ limit, shared, store, outage, now: clock.now, newId }),
    concurrencyLimit: (limit, shared, onRoom) =>
      createGlobalConcurrencyLimit({
        limit,
        shared,
        store,
        outage,
        clock,
        ttlMs: permitTtlMs,
        newId,
        onRoom,
      }),
  };
}
