import { type Counter, localUse } from '../counter.ts';
import type { Lease } from './lease.ts';

/** Of a window that rolls, a lease ends by itself: its rest counts in the bucket in which it ended. */
const ROLLING_LEASE_MS = 60_000;
/** Well within the time for which a gateway counts as alive. */
const MOMENT_LEASE_MS = 20_000;

/** When a lease that is taken now ends. */
export function leaseEnd({ window }: Counter, at: number): number {
  switch (window.kind) {
    case 'calendar':
      return window.endOf(window.bucketAt(at));
    case 'rolling':
      return at + ROLLING_LEASE_MS;
    case 'moment':
      return at + MOMENT_LEASE_MS;
  }
}

/** What may be used now without asking; below 0 where more was used than estimated. */
export function leftOf(counter: Counter, lease: Lease, at: number): number {
  return (at < lease.until ? lease.free : 0) - unreported(counter, lease, at);
}

/**
 * What is used beyond what was reported. What an old bucket of a rolling window gives back makes no room in a newer one
 * before it is reported: it would be counted no more while that still counts.
 */
function unreported(counter: Counter, { reported }: Lease, at: number): number {
  const { buckets, window } = counter;
  if (window.kind !== 'rolling') {
    const bucket = buckets.get(window.bucketAt(at));
    return (bucket?.held ?? 0) + (bucket?.spent ?? 0) - (reported.get(window.bucketAt(at)) ?? 0);
  }
  let sum = 0;
  for (const [start, amount] of localUse(counter, at))
    sum += Math.max(0, amount - (reported.get(start) ?? 0));
  return sum;
}

/** Whether Redis lacks something of a counter. */
export function isUnreported(counter: Counter, lease: Lease, at: number): boolean {
  const use = localUse(counter, at);
  for (const [start, amount] of use) if (amount !== lease.reported.get(start)) return true;
  for (const [start, amount] of lease.reported)
    if (amount > 0 && !use.has(start) && counter.window.counts(start, at)) return true;
  return lease.confirmedSeq < lease.seq;
}
