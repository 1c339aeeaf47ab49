import type { RateLimit } from '../../config/config.ts';
import type { Limit, LimitAnswer, LimitScopeStatus } from '../limit.ts';
import { createSlidingWindow } from '../sliding-window.ts';
import type { Outage } from './outage.ts';
import type { LimitStore } from './store.ts';

export interface GlobalRateInput {
  readonly limit: RateLimit;
  /** What the limit is called in the store. */
  readonly shared: string;
  readonly store: LimitStore;
  readonly outage: Outage;
  now(): number;
  newId(): string;
}

/**
 * At most so many calls of all gateways in any period. While the store does not answer, this gateway lets its part of them
 * pass; what it let pass before counts.
 */
export function createGlobalRateLimit(input: GlobalRateInput): Limit {
  const { limit, newId, now, outage, shared, store } = input;
  const { name, periodMs, threshold } = limit;
  const own = createSlidingWindow(periodMs, now);
  let refused = 0;
  let scope: LimitScopeStatus = 'global';
  const refuse = (retryAfterMs: number): LimitAnswer => {
    refused += 1;
    return { kind: 'refused', retryAfterMs };
  };
  const askAlone = (error: unknown): LimitAnswer => {
    outage.failed(error);
    scope = 'fallback';
    const cancel = own.take(outage.shareOf(threshold));
    return cancel === null ? refuse(own.nextRoomIn()) : { kind: 'permit', permit: { done() {}, cancel } };
  };
  const askStore = async (): Promise<LimitAnswer> => {
    const id = newId();
    try {
      const { gateways, roomIn, taken } = await store.takeCall(shared, id, threshold, periodMs);
      outage.answered(gateways);
      scope = 'global';
      if (!taken) return refuse(roomIn);
    } catch (error) {
      return askAlone(error);
    }
    const uncount = own.note();
    const cancel = () => {
      uncount();
      // Where it does not come back, one call less passes in this period.
      void store.forgetCall(shared, id).catch(() => {});
    };
    return { kind: 'permit', permit: { done() {}, cancel } };
  };
  return {
    kind: 'rate-limit',
    ask: () => (store.ready() ? askStore() : askAlone(new Error('There is no connection'))),
    status: () => ({ kind: 'rate-limit', name, threshold, periodMs, inPeriod: own.count(), refused, scope }),
  };
}
