import { type Counter, createCounter } from '../counter.ts';
import { createLease } from './lease.ts';

/** Under which name the gateways themselves are counted. */
export const PRESENCE_KEY = 'gateways';

/**
 * A counter that counts nothing: its tally has an entry of each gateway that is alive. So every gateway sees which
 * others to wait for when Redis has lost what it had, whichever budgets they use.
 * @param former the ids that this gateway had after earlier starts
 */
export function createPresence(newId: () => string, former: readonly string[]): Counter {
  const presence = createCounter({
    id: PRESENCE_KEY,
    scope: 'global',
    subject: null,
    metric: 'concurrency',
    limit: 1,
    period: null,
    softPercent: null,
    unpriced: 'refuse',
    createdAt: 0,
    updatedAt: 0,
    resetAt: null,
  });
  presence.lease = { ...createLease(PRESENCE_KEY, newId()), former, loaded: true };
  return presence;
}
