import { z } from 'zod';
import type { StoredHealthState } from './account.ts';
import type { HealthState } from './health-state.ts';
import { MAX_RETRY_AFTER_MS } from './health-state.ts';

/** For how long an account is passed over that another gateway found refused: then this one finds out for itself. */
const REFUSED_MS = 60_000;
const LONGEST_TEXT = 512;

const about = {
  connectionId: z.string().max(LONGEST_TEXT),
  model: z.string().max(LONGEST_TEXT).nullable(),
};

/** What another gateway found out about an account, or about one model at it. Durations, because clocks differ. */
export const healthHint = z.discriminatedUnion('state', [
  z.object({ ...about, state: z.literal('ready') }),
  z.object({
    ...about,
    state: z.enum(['cooling', 'exhausted']),
    reason: z.string().max(LONGEST_TEXT),
    failures: z.int().min(0),
    /** Milliseconds from now. */
    forMs: z.number().min(0),
    /** The upstream itself said how long. */
    told: z.boolean(),
  }),
]);

export type HealthHint = z.infer<typeof healthHint>;

/** What is sent to other gateways about a change; null where it does not concern them. */
export function hintOf(
  { connectionId, model, healthState }: StoredHealthState,
  now: number,
): HealthHint | null {
  const about = { connectionId, model };
  if (healthState === null) return { ...about, state: 'ready' };
  const { failures } = healthState;
  const reason = healthState.reason.slice(0, LONGEST_TEXT);
  switch (healthState.state) {
    case 'probing':
      return null;
    case 'needs-attention':
      return { ...about, state: 'cooling', reason, failures, forMs: REFUSED_MS, told: false };
    case 'cooling':
    case 'exhausted': {
      const forMs = Math.max(0, healthState.until - now);
      return {
        ...about,
        state: healthState.state,
        reason,
        failures,
        forMs,
        told: healthState.namedByUpstream,
      };
    }
  }
}

/** The health state that a hint stands for; null is ready. */
export function healthStateOfHint(hint: HealthHint, now: number): HealthState | null {
  if (hint.state === 'ready') return null;
  const { failures, forMs, reason, state, told: namedByUpstream } = hint;
  return {
    state,
    since: now,
    failures,
    reason,
    namedByUpstream,
    until: now + Math.min(forMs, MAX_RETRY_AFTER_MS[state]),
  };
}
