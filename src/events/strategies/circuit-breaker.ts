import type { CircuitBreaker } from '../config/config.ts';
import type { BreakerState, CallOutcome, Limit, LimitAnswer, Permit } from './limit.ts';

/** How finely the window slides. */
const BUCKETS = 10;

interface Bucket {
  readonly number: number;
  calls: number;
  bad: number;
}

export interface BreakerInput {
  readonly breaker: CircuitBreaker;
  /** Milliseconds of a monotonic clock. */
  now(): number;
  /** A call that was refused may pass now. */
  onRoom(): void;
  /** Told of each change: `closed` to `open`, and `open` to `closed` by way of `half-open`. */
  onChange(state: BreakerState): void;
}

/**
 * Refuses calls while too many fail or are slow. Closed, it counts the calls of a sliding window. Open, it refuses all. After the
 * recovery time it is half-open: one call, the probe, passes, and its result closes or opens the breaker. Results of calls
 * that began in an earlier state are ignored.
 */
export function createCircuitBreaker({ breaker, now, onChange, onRoom }: BreakerInput): Limit {
  const { minRequests, name, ratio, recoveryMs, trips, windowMs } = breaker;
  let state: BreakerState = 'closed';
  /** Grows with each change: a permit belongs to the era that it was given in. */
  let era = 0;
  let openedAt = 0;
  let buckets: Bucket[] = [];
  let opened = 0;
  let refused = 0;

  const change = (next: BreakerState) => {
    state = next;
    era += 1;
    buckets = [];
    if (next === 'open') {
      openedAt = now();
      opened += 1;
    }
    onChange(next);
    if (next === 'closed') onRoom();
  };
  const isBad = (outcome: CallOutcome, ms: number) =>
    trips.on === 'errors' ? outcome === 'error' : ms > trips.maxMs;
  const inWindow = () => {
    const number = Math.floor((now() * BUCKETS) / windowMs);
    buckets = buckets.filter((bucket) => bucket.number > number - BUCKETS);
    const calls = buckets.reduce((sum, bucket) => sum + bucket.calls, 0);
    const bad = buckets.reduce((sum, bucket) => sum + bucket.bad, 0);
    return { number, calls, bad };
  };
  const count = (bad: boolean) => {
    const { number } = inWindow();
    const last = buckets.at(-1);
    const bucket = last?.number === number ? last : { number, calls: 0, bad: 0 };
    if (bucket !== last) buckets.push(bucket);
    bucket.calls += 1;
    if (bad) bucket.bad += 1;
    const window = inWindow();
    if (window.calls >= minRequests && window.bad > 0 && window.bad / window.calls >= ratio) change('open');
  };
  /** As it was before the probe: the next call is one. */
  const forgetProbe = () => {
    state = 'open';
    era += 1;
  };
  const permitOf = (given: number): Permit => {
    const isProbe = state === 'half-open';
    return {
      done(outcome, ms) {
        if (era !== given) return;
        if (outcome !== 'ignored') {
          const bad = isBad(outcome, ms);
          if (isProbe) change(bad ? 'open' : 'closed');
          else count(bad);
        } else if (isProbe) {
          forgetProbe();
          onRoom();
        }
      },
      cancel() {
        if (era === given && isProbe) forgetProbe();
      },
    };
  };
  const refuse = (retryAfterMs: number): LimitAnswer => {
    refused += 1;
    return { kind: 'refused', retryAfterMs };
  };
  return {
    kind: 'circuit-breaker',
    ask() {
      if (state === 'half-open') return refuse(recoveryMs);
      const wait = openedAt + recoveryMs - now();
      if (state === 'open' && wait > 0) return refuse(wait);
      if (state === 'open') change('half-open');
      return { kind: 'permit', permit: permitOf(era) };
    },
    status() {
      const { bad, calls } = inWindow();
      return { kind: 'circuit-breaker', name, state, opened, refused, calls, bad };
    },
  };
}
