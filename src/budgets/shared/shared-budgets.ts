import { addUse, type Counter } from '../counter.ts';
import { type PastUsage, pastAmount, type SharedBudgets } from '../limits.ts';
import { createLease } from './lease.ts';
import type { LeaseStore } from './lease-store.ts';
import type { SharedLimits } from './shared-limits.ts';
import type { TallyEntry } from './tally.ts';

interface SharedBudgetsInput {
  limits: SharedLimits;
  leases: Pick<LeaseStore, 'forget' | 'load'>;
  /** A new name, unlike any other. */
  newId(): string;
  /** Milliseconds since the epoch. */
  now(): number;
  onError(error: unknown): void;
}

/** Brings the budgets of this gateway, and what it remembers of them, together with those of the others. */
export function createSharedBudgets({
  leases,
  limits,
  newId,
  now,
  onError,
}: SharedBudgetsInput): SharedBudgets {
  return {
    reserve: limits.reserve,
    onChange: limits.onChange,
    async join(counter, past) {
      const lease = createLease(keyOf(counter), newId());
      const [remembered, parts] = [await leases.load(lease.key), await past()];
      for (const part of parts)
        if (part.unpriced > 0 && counter.budget.metric === 'usd')
          addUse(counter, counter.window.bucketAt(part.at), { unpriced: part.unpriced });
      if (remembered !== null) {
        lease.former = remembered.own;
        lease.tally = { ...remembered.tally, awaited: {} };
      } else {
        const history = historyOf(counter, parts);
        if (history !== null) lease.tally = { ...lease.tally, entries: { [history.id]: history.entry } };
      }
      lease.loaded = true;
      limits.join(counter, lease);
      limits.reset(counter, counter.budget.resetAt ?? 0);
    },
    leave(counter) {
      limits.leave(counter);
      leases.forget(keyOf(counter)).catch(onError);
    },
    // A clock that was put back makes no reset an earlier one.
    reset: (counter) => limits.reset(counter, Math.max(now(), (counter.lease?.tally.resetAt ?? 0) + 1)),
  };
}

/**
 * What the ledger has of the time before anything was shared, as an entry of its own. A copy of the ledger has the same
 * first request, so its entry takes the place of this one and does not count twice.
 */
function historyOf(counter: Counter, parts: readonly PastUsage[]): { id: string; entry: TallyEntry } | null {
  const [first] = parts;
  if (first === undefined) return null;
  const used = new Map<number, number>();
  for (const part of parts) {
    const bucket = counter.window.bucketAt(part.at);
    used.set(bucket, (used.get(bucket) ?? 0) + pastAmount(counter, part));
  }
  const seq = parts.reduce((sum, { requests }) => sum + requests, 0);
  return { id: `ledger:${first.first}`, entry: { seq, used: [...used], free: 0, until: 0, seen: 0 } };
}

/** The same for every gateway that shares its keys, combos and connections with this one. */
function keyOf({ budget: { metric, period, scope, subject } }: Counter): string {
  return `${scope}:${subject ?? ''}:${metric}:${period ?? ''}`;
}
