import type { CircuitBreaker } from '../../../src/events/config/config.ts';

type Era = { calls: { at: number; bad: boolean }[] };

/**
 * What a circuit breaker has to do, said in another way than it is written: by the list of all results. Times must be multiples of
 * a tenth of the window for both to count the same calls.
 */
export function createBreakerModel({ minRequests, ratio, recoveryMs, trips, windowMs }: CircuitBreaker) {
  let state: 'closed' | 'open' | 'half-open' = 'closed';
  let openUntil = 0;
  let era: Era = { calls: [] };
  const enter = (next: typeof state, now: number) => {
    state = next;
    era = { calls: [] };
    if (next === 'open') openUntil = now + recoveryMs;
  };
  return {
    state: () => state,
    /** @returns what reports the result, or null when the call is refused */
    ask(now: number) {
      const probe = state === 'open' && now >= openUntil;
      if (state !== 'closed' && !probe) return null;
      if (probe) enter('half-open', now);
      const own = era;
      return (outcome: 'ok' | 'error' | 'ignored' | 'cancel', ms: number, at: number) => {
        if (own !== era) return;
        if (outcome === 'ignored' || outcome === 'cancel') {
          if (probe) {
            state = 'open';
            era = { calls: [] };
          }
          return;
        }
        const bad = trips.on === 'errors' ? outcome === 'error' : ms > trips.maxMs;
        if (probe) return enter(bad ? 'open' : 'closed', at);
        own.calls.push({ at, bad });
        const recent = own.calls.filter((call) => call.at > at - windowMs);
        const failures = recent.filter((call) => call.bad).length;
        if (recent.length >= minRequests && failures > 0 && failures / recent.length >= ratio)
          enter('open', at);
      };
    },
  };
}
