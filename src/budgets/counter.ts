import type { BudgetRecord } from './schema.ts';
import type { Lease } from './shared/lease.ts';
import { freeOfOthers, usageByOthers, usedOf } from './shared/tally.ts';
import { type Window, windowOf } from './window.ts';

/** Money is counted in whole billionths of a USD, so that what is set aside and given back leaves nothing behind. */
export const NANO = 1_000_000_000;

interface Bucket {
  spent: number;
  held: number;
  unpriced: number;
}

/** What one budget has counted. Amounts are whole: billionths of a USD, tokens or requests. */
export interface Counter {
  budget: BudgetRecord;
  readonly window: Window;
  /** Changed by the functions of this file alone, which keep `level` right. */
  readonly buckets: Map<number, Bucket>;
  /** What counts at any moment of the bucket `at`, added up; null where that has to be done. */
  level: { readonly at: number; readonly sums: CounterLevel } | null;
  /** What may be used of a budget that several gateways share; null where this one is alone. */
  lease: Lease | null;
  /** Until when no further notification is sent that the threshold and the limit were reached. */
  notifiedUntil: { soft: number; hard: number };
  /** When the threshold and the limit were last reached; null where that is not known. */
  reachedAt: { soft: number | null; exceeded: number | null };
}

export interface CounterLevel {
  spent: number;
  held: number;
  unpriced: number;
}

export function createCounter(budget: BudgetRecord): Counter {
  return {
    budget,
    window: windowOf(budget.period),
    buckets: new Map(),
    level: null,
    lease: null,
    notifiedUntil: { soft: Number.NEGATIVE_INFINITY, hard: Number.NEGATIVE_INFINITY },
    reachedAt: { soft: null, exceeded: null },
  };
}

/** The limit in the counter's own units. */
export function limitOf({ budget }: Counter): number {
  return budget.metric === 'usd' ? Math.round(budget.limit * NANO) : Math.floor(budget.limit);
}

/**
 * What counts at a moment, of this gateway alone. Each request asks several times, and a minute has sixty buckets: the sums are kept
 * while the same buckets count, which is for as long as the moments lie in one bucket.
 */
export function levelAt(counter: Counter, at: number): Readonly<CounterLevel> {
  const { buckets, window } = counter;
  const current = window.bucketAt(at);
  if (counter.level?.at === current) return counter.level.sums;
  const sums: CounterLevel = { spent: 0, held: 0, unpriced: 0 };
  for (const [start, bucket] of buckets) {
    if (!window.counts(start, at)) continue;
    sums.spent += bucket.spent;
    sums.held += bucket.held;
    sums.unpriced += bucket.unpriced;
  }
  counter.level = { at: current, sums };
  return sums;
}

function addToSums(sums: CounterLevel, held: number, spent: number, unpriced: number): void {
  sums.held += held;
  sums.spent += spent;
  sums.unpriced += unpriced;
}

/** Changes what is in a bucket, and with it the sums in which it counts. */
function addTo({ level, window }: Counter, start: number, bucket: Bucket, more: Partial<CounterLevel>): void {
  const { held = 0, spent = 0, unpriced = 0 } = more;
  addToSums(bucket, held, spent, unpriced);
  if (level !== null && window.counts(start, level.at)) addToSums(level.sums, held, spent, unpriced);
}

/** For how long the last report of open requests at other gateways counts. */
const SHARED_USAGE_AGE_MS = 10_000;

/** What others used, as far as that is known and still counts. */
export function usageElsewhereAt({ lease, window }: Counter, at: number): number {
  if (lease === null) return 0;
  // Requests open elsewhere count only as long as they are reported.
  if (window.kind === 'moment' && at >= lease.receivedAt + SHARED_USAGE_AGE_MS) return 0;
  return usageByOthers(lease.tally, lease.me, window, at, at + lease.clockOffset);
}

/** What is used and set aside here, by the buckets that count. */
export function localUse({ buckets, window }: Counter, at: number): Map<number, number> {
  const use = new Map<number, number>();
  for (const [start, { held, spent }] of buckets) {
    if (window.counts(start, at) && held + spent > 0) use.set(start, held + spent);
  }
  return use;
}

/** What gateways hold that do not report any more: it may be used, and is never given back. */
export function lapsedLeases({ lease, window }: Counter, at: number): number {
  return lease === null ? 0 : freeOfOthers(lease.tally, lease.me, window, at, at + lease.clockOffset).stuck;
}

/** What neither is used nor set aside, in the counter's own units. */
export function remainingAt(counter: Counter, at: number): number {
  const { held, spent } = levelAt(counter, at);
  const total = spent + usageElsewhereAt(counter, at) + held + lapsedLeases(counter, at);
  return Math.max(0, limitOf(counter) - total);
}

/** What all are known to have used and set aside, by the buckets that count. */
function useByBucket(counter: Counter, at: number): Map<number, number> {
  const { lease, window } = counter;
  const use = localUse(counter, at);
  for (const [id, entry] of Object.entries(lease?.tally.entries ?? {})) {
    if (id === lease?.me) continue;
    for (const [bucket, amount] of usedOf(entry, window, at, at + (lease?.clockOffset ?? 0)))
      use.set(bucket, (use.get(bucket) ?? 0) + amount);
  }
  return use;
}

/** Whether an amount fits beside what is spent and set aside. What costs nothing always does. */
export function fits(counter: Counter, amount: number, at: number): boolean {
  if (amount === 0) return true;
  const { held, spent } = levelAt(counter, at);
  return spent + held + usageElsewhereAt(counter, at) + amount <= limitOf(counter);
}

/** The bucket that begins at `start`; those that are long past are forgotten when it is new. */
function bucketOf(counter: Counter, start: number): Bucket {
  const { buckets, window } = counter;
  const bucket = buckets.get(start);
  if (bucket !== undefined) return bucket;
  // After the clock was put back a bucket may be forgotten that counts.
  counter.level = null;
  for (const [old, { held }] of buckets) if (held === 0 && old < start - window.keepMs) buckets.delete(old);
  const newBucket: Bucket = { spent: 0, held: 0, unpriced: 0 };
  buckets.set(start, newBucket);
  return newBucket;
}

export function reserveIn(counter: Counter, start: number, amount: number): void {
  addTo(counter, start, bucketOf(counter, start), { held: amount });
}

export function releaseIn(counter: Counter, start: number, amount: number): void {
  const bucket = counter.buckets.get(start);
  if (bucket !== undefined) addTo(counter, start, bucket, { held: -Math.min(amount, bucket.held) });
}

export function addUse(counter: Counter, start: number, { amount = 0, unpriced = 0 }): void {
  if (amount === 0 && unpriced === 0) return;
  addTo(counter, start, bucketOf(counter, start), { spent: amount, unpriced });
}

/** Forgets what was spent, and keeps what is set aside for requests under way. */
export function resetUsage(counter: Counter): void {
  const { buckets, notifiedUntil, reachedAt } = counter;
  counter.level = null;
  reachedAt.soft = null;
  reachedAt.exceeded = null;
  for (const bucket of buckets.values()) {
    bucket.spent = 0;
    bucket.unpriced = 0;
  }
  notifiedUntil.soft = Number.NEGATIVE_INFINITY;
  notifiedUntil.hard = Number.NEGATIVE_INFINITY;
}

/**
 * When an amount will fit, as far as time alone makes room. In a moment for what has no window, and for room that only
 * open requests take.
 */
export function availableAt(counter: Counter, amount: number, at: number): number {
  const { window } = counter;
  if (window.kind === 'moment') return at + 1000;
  if (window.kind === 'calendar') return window.endOf(window.bucketAt(at));
  const { held, spent } = levelAt(counter, at);
  let excess = spent + held + usageElsewhereAt(counter, at) + amount - limitOf(counter);
  const use = [...useByBucket(counter, at)].sort(([one], [other]) => one - other);
  for (const [start, used] of use) {
    // What is set aside here may be free at any time, and makes no promise.
    excess -= used - (counter.buckets.get(start)?.held ?? 0);
    if (excess <= 0) return Math.max(at + 1000, window.endOf(start));
  }
  return window.endOf(window.bucketAt(at));
}

/** When nothing of what counts now counts any more; null where time does not tell. */
export function resetsAt(counter: Counter, at: number): number | null {
  const { buckets, lease, window } = counter;
  if (window.kind === 'moment') return null;
  const current = buckets.get(window.bucketAt(at));
  // No bucket that counts is later, unless other gateways count.
  if (lease === null && current !== undefined && current.held + current.spent > 0)
    return window.endOf(window.bucketAt(at));
  let last = window.kind === 'calendar' ? window.bucketAt(at) : Number.NEGATIVE_INFINITY;
  for (const start of useByBucket(counter, at).keys()) last = Math.max(last, start);
  return last === Number.NEGATIVE_INFINITY ? null : window.endOf(last);
}
