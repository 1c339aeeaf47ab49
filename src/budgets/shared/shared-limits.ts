import { type Claim, type ClaimRefusal, reserveAll, reserveHere, type SharedClaims } from '../claim.ts';
import { type Counter, fits, lapsedLeases, levelAt, limitOf, usageElsewhereAt } from '../counter.ts';
import { forgetLease, type Lease, noteAdmitted, noteDemand } from './lease.ts';
import { leftOf } from './lease-use.ts';
import { createReporter, PROBE_MS, type Reporter, type ReporterInput, SETTLE_MS } from './reporter.ts';
import { emptyTally, isAwaiting } from './tally.ts';
import { createWaiters, type Waiter, type Waiters } from './waiters.ts';

export interface SharedInput extends Omit<ReporterInput, 'askFor' | 'onAnswer' | 'onSilence'> {
  /** Whether there is anybody to ask. */
  ready(): boolean;
  /** What happens to requests that the leases do not cover while no answer comes. */
  failureMode: 'refuse' | 'local';
  /** Told when answers stop to come, or come too late, and when they come again. */
  onOutage(outage: boolean, error: unknown): void;
}

export interface SharedLimits extends SharedClaims {
  /** Counts a budget from now on together with the others. */
  join(counter: Counter, lease: Lease): void;
  /** Gives back what a budget that is no more holds. */
  leave(counter: Counter): void;
  /** Forgets what a budget has counted, for all. */
  reset(counter: Counter, resetAt: number): void;
  /** Reports what has changed. To be called a few times a second. */
  tick(): void;
  /** Gives back all that is held. */
  close(): Promise<void>;
  /** Whether answers come, and in time. */
  answering(): boolean;
}

/**
 * Budgets that several gateways hold together, each by leases. A request waits for no answer while a lease covers it;
 * one that no lease covers waits until its gateway has been granted more. Nothing is used that was not granted before.
 */
export function createShared({ failureMode, onOutage, ready, ...input }: SharedInput): SharedLimits {
  const { now } = input;
  const waiters = createWaiters();
  let outage = false;

  const unavailable = (claims: readonly Claim[]): ClaimRefusal | null => {
    const claim = claims.find((one) => !isCovered(one, now())) ?? claims[0];
    if (claim === undefined) return null;
    if (failureMode === 'refuse') return { claim, kind: 'unavailable' };
    const answer = reserveHere(claims, now());
    if (answer === null) for (const { counter } of claims) reporter.active.add(counter);
    return answer;
  };
  const setOutage = (next: boolean, error: unknown = null) => {
    if (outage !== next) onOutage(next, error);
    outage = next;
    if (outage) waiters.answer(({ claims }) => unavailable(claims));
  };
  const reporter = createReporter({
    ...input,
    askFor: waiters.askFor,
    onSilence: (error) => setOutage(true, error),
    onAnswer() {
      setOutage(false);
      waiters.answer(({ requested, claims }) => {
        if (takeCovered(claims, now(), active)) return null;
        const full = claims.find((claim) => requested.has(claim.counter) && isFull(claim, now()));
        return full === undefined ? undefined : { claim: full, kind: 'full' };
      });
    },
  });
  const { active, joined } = reporter;
  const report = (counters: readonly Counter[]): void => {
    if (reporter.isBusy()) return;
    void reporter.report(counters).then(() => {
      const next = waiters.unrequested();
      if (next.length > 0) report(next);
    });
  };
  return {
    reserve(claims) {
      const at = now();
      for (const { amount, counter } of claims)
        if (counter.lease !== null && amount > 0) noteDemand(counter.lease, amount, at);
      if (takeCovered(claims, at, active)) {
        const low = claims.map(({ counter }) => counter).filter((counter) => isLow(counter, at));
        if (low.length > 0 && !outage && ready()) report(low);
        return null;
      }
      if (!ready()) setOutage(true);
      return outage
        ? unavailable(claims)
        : wait(claims, { ...input, reporter, waiters, report, unavailable });
    },
    onChange: (counter) => active.add(counter),
    ...membership(active, joined, (counter) => ready() && !outage && report([counter])),
    tick() {
      if (!ready()) return setOutage(true);
      waiters.askAgain();
      const due = reporter.due();
      const unrequested = waiters.unrequested();
      if (due !== null || unrequested.length > 0) report([...new Set([...unrequested, ...(due ?? [])])]);
    },
    async close() {
      if (ready() && !outage) await reporter.close();
    },
    answering: () => ready() && !outage,
  };
}

/** Holds all claims, if leases cover them. */
function takeCovered(claims: readonly Claim[], at: number, active: Set<Counter>): boolean {
  // It may have waited into another window.
  for (const claim of claims) claim.bucket = claim.counter.window.bucketAt(at);
  if (!claims.every((claim) => isCovered(claim, at))) return false;
  reserveAll(claims);
  for (const { amount, counter } of claims) {
    if (counter.lease !== null) noteAdmitted(counter.lease, amount);
    active.add(counter);
  }
  return true;
}

interface WaitContext extends Pick<SharedInput, 'after' | 'now' | 'timeoutMs'> {
  reporter: Pick<Reporter, 'isBlocked'>;
  waiters: Waiters;
  report(counters: readonly Counter[]): void;
  unavailable(claims: readonly Claim[]): ClaimRefusal | null;
}

/** Waits until there is room, or none is expected. */
function wait(claims: readonly Claim[], context: WaitContext): Promise<ClaimRefusal | null> {
  const { after, now, report, reporter, timeoutMs, unavailable, waiters } = context;
  return new Promise((resolve) => {
    const waiter: Waiter = {
      claims,
      requested: new Set(),
      end(answer) {
        cancel();
        resolve(answer);
      },
    };
    const cancel = after(Math.max(timeoutMs, SETTLE_MS + PROBE_MS), () => {
      waiters.remove(waiter);
      const claim = claims.find((one) => !isCovered(one, now()));
      const decided = claim !== undefined && waiter.requested.has(claim.counter) && !reporter.isBlocked();
      const full = decided && !isWaitingForOthers(claim.counter);
      resolve(full ? { claim, kind: 'full' } : unavailable(claims));
    });
    waiters.add(waiter);
    report(waiters.unrequested());
  });
}

function membership(
  active: Set<Counter>,
  joined: Set<Counter>,
  reportSoon: (counter: Counter) => void,
): Pick<SharedLimits, 'join' | 'leave' | 'reset'> {
  return {
    join(counter, lease) {
      counter.lease = lease;
      joined.add(counter);
      active.add(counter);
    },
    leave(counter) {
      joined.delete(counter);
      active.add(counter);
      if (counter.lease !== null) counter.lease.closed = 'removed';
      reportSoon(counter);
    },
    reset(counter, resetAt) {
      const { lease } = counter;
      if (lease === null || resetAt <= lease.tally.resetAt) return;
      lease.tally = { ...emptyTally, resetAt, awaited: lease.tally.awaited };
      forgetLease(lease);
      // It has to be sent to the others, though nothing was used.
      lease.epoch = null;
      active.add(counter);
    },
  };
}

/** Whether a claim may be held without asking. What costs nothing always may. */
function isCovered({ amount, counter }: Claim, at: number): boolean {
  if (amount === 0) return true;
  const { lease } = counter;
  return lease !== null && leftOf(counter, lease, at) >= amount && fits(counter, amount, at);
}

/** Whether there is no room for a claim, whatever others give back. */
function isFull({ amount, counter }: Claim, at: number): boolean {
  const { held, spent } = levelAt(counter, at);
  const others = usageElsewhereAt(counter, at) + lapsedLeases(counter, at);
  return !isWaitingForOthers(counter) && held + spent + others + amount > limitOf(counter);
}

/** Whether others have to report first. */
function isWaitingForOthers({ lease }: Counter): boolean {
  return lease !== null && isAwaiting(lease.tally);
}

function isLow(counter: Counter, at: number): boolean {
  const { lease } = counter;
  if (lease === null || lease.demand.limited) return false;
  return leftOf(counter, lease, at) < lease.demand.want / 2;
}
