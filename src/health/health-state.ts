import { LONGEST_WAIT_MS } from './wait.ts';

/**
 * What is kept of an account, or of one model at it, while it is not simply ready. Times in milliseconds since the
 * epoch. `since` is when the state began: an attempt that began before it says nothing new.
 */
export type HealthState = { since: number; failures: number; reason: string } & (
  | { state: 'cooling' | 'exhausted'; until: number; namedByUpstream: boolean }
  | { state: 'probing' }
  | { state: 'needs-attention' }
);

/** What a failure means for a health state. */
export interface Penalty {
  to: 'cooling' | 'exhausted' | 'needs-attention';
  reason: string;
  /** The first wait and the longest, in milliseconds, where the upstream does not name one. */
  baseMs: number;
  capMs: number;
  /** Until when the upstream itself said that it will not answer; null when it did not. */
  upstreamRetryAt: number | null;
}

/** What happens to a health state. `begunAt`: when the attempt began that it came of. */
export type HealthEvent =
  /** A request is let through. */
  | { type: 'begun' }
  | { type: 'succeeded'; begunAt: number }
  | { type: 'failed'; begunAt: number; penalty: Penalty }
  /** An attempt ended and shows nothing: its client left, or sent a bad request. */
  | { type: 'inconclusive'; begunAt: number };

/** Longest wait that an upstream may order, by state: some name an hour for what is over in a second. */
export const MAX_RETRY_AFTER_MS = { cooling: 15 * 60_000, exhausted: LONGEST_WAIT_MS } as const;
/** A probe that takes longer than this does not keep others from trying. */
export const PROBE_MS = 60_000;
/** Failures that are further back than this do not lengthen the next wait. */
const FORGET_MS = 10 * 60_000;

/** The health state after `event`; null is ready. */
export function next(state: HealthState | null, event: HealthEvent, now: number): HealthState | null {
  switch (event.type) {
    case 'begun':
      return state === null ? null : begun(state, now);
    case 'succeeded':
      return state === null || event.begunAt >= state.since ? null : state;
    case 'inconclusive': {
      if (state?.state !== 'probing' || event.begunAt < state.since) return state;
      // Whoever comes next finds out.
      return { ...state, state: 'cooling', since: now, until: now, namedByUpstream: false };
    }
    case 'failed':
      return failed(state, event, now);
  }
}

/** Whether the pause of a health state is over, so that one request may find out. */
export function isOver(healthState: HealthState, now: number): boolean {
  switch (healthState.state) {
    case 'cooling':
    case 'exhausted':
      // A clock that was put back must not make a pause of seconds one of hours.
      return now >= healthState.until || now < healthState.since;
    case 'probing':
      return now - healthState.since >= PROBE_MS || now < healthState.since;
    case 'needs-attention':
      return false;
  }
}

function begun(healthState: HealthState, now: number): HealthState {
  if (!isOver(healthState, now)) return healthState;
  const old = 'until' in healthState && now - healthState.until > FORGET_MS;
  const { failures, reason } = healthState;
  return { state: 'probing', since: now, failures: old ? 0 : failures, reason };
}

const rank = { probing: 0, cooling: 1, exhausted: 2, 'needs-attention': 3 } as const;

function failed(
  healthState: HealthState | null,
  { begunAt, penalty }: HealthEvent & { type: 'failed' },
  now: number,
): HealthState {
  const fresh = stateAfter(penalty, healthState?.failures ?? 0, now);
  if (healthState === null) return fresh;
  // What weighs less does not end what weighs more: a server error says nothing of a refused credential.
  if (rank[penalty.to] < rank[healthState.state] && !isOver(healthState, now)) return healthState;
  const late = begunAt < healthState.since;
  if (!late || rank[penalty.to] > rank[healthState.state]) return fresh;
  // One of several that failed together: the pause is there already, and only a longer order counts.
  if (
    penalty.upstreamRetryAt !== null &&
    'until' in fresh &&
    'until' in healthState &&
    fresh.until > healthState.until
  )
    return { ...fresh, failures: healthState.failures };
  return healthState;
}

function stateAfter(
  { baseMs, capMs, reason, to, upstreamRetryAt }: Penalty,
  earlier: number,
  now: number,
): HealthState {
  const failures = earlier + 1;
  if (to === 'needs-attention') return { state: to, since: now, failures, reason };
  const ordered = upstreamRetryAt !== null && upstreamRetryAt > now;
  // Beyond 2^30 times the base every cap is reached.
  const guess = Math.min(capMs, baseMs * 2 ** Math.min(earlier, 30));
  const wait = ordered ? Math.min(upstreamRetryAt - now, MAX_RETRY_AFTER_MS[to]) : guess;
  return { state: to, since: now, failures, reason, until: now + wait, namedByUpstream: ordered };
}
