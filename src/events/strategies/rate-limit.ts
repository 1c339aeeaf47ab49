import type { RateLimit } from '../config/config.ts';
import type { Limit } from './limit.ts';
import { createSlidingWindow } from './sliding-window.ts';

/** At most so many calls in any period of this process. A threshold of 0 lets nothing pass. */
export function createRateLimit({ name, periodMs, threshold }: RateLimit, now: () => number): Limit {
  const window = createSlidingWindow(periodMs, now);
  let refused = 0;
  return {
    kind: 'rate-limit',
    ask() {
      const cancel = window.take(threshold);
      if (cancel !== null) return { kind: 'permit', permit: { done() {}, cancel } };
      refused += 1;
      return { kind: 'refused', retryAfterMs: window.nextRoomIn() };
    },
    status: () => ({
      kind: 'rate-limit',
      name,
      threshold,
      periodMs,
      inPeriod: window.count(),
      refused,
      scope: 'local',
    }),
  };
}
