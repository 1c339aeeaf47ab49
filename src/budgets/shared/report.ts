import { type Counter, limitOf, localUse, resetUsage } from '../counter.ts';
import type { TallyExchangeReply, TallyProposal } from './exchange.ts';
import { grantFrom } from './grant.ts';
import { type Lease, learnTally, nextEntry } from './lease.ts';
import { leaseEnd, leftOf } from './lease-use.ts';
import {
  isAlive,
  isAwaiting,
  isContended,
  parseTally,
  pruneTally,
  type Tally,
  usageByOthers,
} from './tally.ts';

/** What a gateway says of one budget, and what it may use when that is accepted. */
export interface LeaseReport {
  counter: Counter;
  lease: Lease;
  tally: Tally;
  proposal: TallyProposal;
  free: number;
  until: number;
  limited: boolean;
}

export interface ReportInput {
  /** Milliseconds since the epoch, and the same by Redis's clock. */
  at: number;
  redisNow: number;
  epoch: string | null;
  /** Whether nothing is granted now, because others may still have to report. */
  blocked: boolean;
  /** What the requests that wait may use, each. */
  waiting: readonly number[];
  /** The name of the new version. */
  version: string;
}

const DAY_MS = 86_400_000;
const MAX_TTL_MS = 70 * DAY_MS;
/** For how long a gateway that was alive is waited for, after Redis has lost what it had. */
const AWAIT_MS = 30_000;

/**
 * Makes the next report of a counter. From here on this gateway uses no more than what both the reports before and this
 * one cover, so that it does not matter which of them Redis has when no answer comes.
 */
export function prepareReport(counter: Counter, lease: Lease, input: ReportInput): LeaseReport {
  const { at, epoch, redisNow, version, waiting } = input;
  const { window } = counter;
  const pendingLease = awaiting(lease, epoch, pruneTally(lease.tally, window, at, redisNow), redisNow);
  const use = lease.closed === 'removed' ? new Map<number, number>() : localUse(counter, at);
  const used = [...use.values()].reduce((sum, amount) => sum + amount, 0);
  const limit = limitOf(counter);
  const room = Math.max(0, limit - used - usageByOthers(pendingLease, lease.me, window, at, redisNow));
  const keep = Math.min(room, wantedOf(counter, lease, input));
  lease.reported = use;
  lease.free = keep;
  lease.seq += 1;
  const blocked = input.blocked || isAwaiting(pendingLease);
  const { me } = lease;
  const { unit, want } = lease.demand;
  const request = { me, window, limit, used, keep, at, redisNow, unit, waiting };
  const grant = blocked
    ? { free: keep, contended: false, limited: true }
    : grantFrom(pendingLease, { ...request, want: lease.closed === null ? want : 0 });
  const until = grant.free > 0 ? leaseEnd(counter, at) : 0;
  // Who leaves is not waited for.
  const own = nextEntry(lease, grant.free, until, lease.closed === null ? redisNow : 0);
  const entries = { ...pendingLease.entries, ...withdrawn(pendingLease, lease), [me]: own };
  const tally = {
    ...pendingLease,
    entries,
    contendedAt: grant.contended ? redisNow : pendingLease.contendedAt,
  };
  const ttlMs = Math.min(MAX_TTL_MS, Math.max(DAY_MS, window.keepMs));
  const wasVersion = lease.epoch === epoch ? lease.version : null;
  return {
    counter,
    lease,
    tally,
    free: grant.free,
    until,
    limited: grant.limited,
    proposal: { key: lease.key, wasVersion, version, tally: JSON.stringify(tally), ttlMs },
  };
}

/** What this gateway has reported after earlier starts counts no more where its budget was removed: the ledger has it. */
function withdrawn({ entries }: Tally, { closed, former }: Lease): Tally['entries'] {
  if (closed !== 'removed') return {};
  return Object.fromEntries(
    former.flatMap((id) => {
      const entry = entries[id];
      return entry === undefined ? [] : [[id, { ...entry, seq: entry.seq + 1, used: [], free: 0 }]];
    }),
  );
}

/** What is kept of the lease until Redis has answered. */
function wantedOf(counter: Counter, lease: Lease, { at, redisNow, waiting }: ReportInput): number {
  const left = Math.max(0, leftOf(counter, lease, at));
  if (lease.closed !== null) return 0;
  if (waiting.length > 0) return left;
  return isContended(lease.tally, redisNow) ? 0 : Math.min(left, lease.demand.want);
}

/**
 * In a new epoch, all gateways that were alive have to report again first. One that has reported is not awaited any more.
 */
function awaiting(lease: Lease, epoch: string | null, tally: Tally, redisNow: number): Tally {
  const awaited = { ...tally.awaited };
  if (lease.epoch !== epoch) for (const id of aliveOthers(lease, redisNow)) awaited[id] = redisNow + AWAIT_MS;
  for (const id of [lease.me, ...lease.former]) delete awaited[id];
  return { ...tally, awaited };
}

function aliveOthers({ former, me, tally }: Lease, redisNow: number): string[] {
  return Object.keys(tally.entries).filter((id) => {
    const entry = tally.entries[id];
    return id !== me && !former.includes(id) && entry !== undefined && isAlive(entry, redisNow);
  });
}

/** Takes over what was accepted: from now on all that was granted may be used. */
export function acceptReport(
  { free, lease, limited, proposal, tally, until }: LeaseReport,
  epoch: string,
): void {
  lease.tally = tally;
  lease.version = proposal.version;
  lease.epoch = epoch;
  lease.free = free;
  lease.until = until;
  lease.confirmedSeq = lease.seq;
  lease.demand.limited = limited;
}

/** Clocks that do not quite agree find the same entry too old a little earlier or later. */
const SLACK_MS = 5_000;

/** Whether something is gone that was in the tally before, and still counts. */
function hasLost(
  { window }: Counter,
  { tally, version }: Lease,
  received: Tally | null,
  { at, redisNow }: Pick<ReportInput, 'at' | 'redisNow'>,
): boolean {
  if (received === null) return version !== null;
  if (received.resetAt !== tally.resetAt) return received.resetAt < tally.resetAt;
  const tallyNow = pruneTally(tally, window, at + SLACK_MS, redisNow + SLACK_MS);
  return Object.entries(tallyNow.entries).some(([id, { seq }]) => (received.entries[id]?.seq ?? 0) < seq);
}

/**
 * Takes over what another gateway has written meanwhile.
 * @returns whether Redis has lost what this gateway had reported in this very epoch
 */
export function learnConflict(
  { counter, lease }: LeaseReport,
  conflict: NonNullable<TallyExchangeReply['conflicts'][number]>,
  { at, epoch, redisNow }: Pick<ReportInput, 'at' | 'redisNow'> & { epoch: string },
): boolean {
  const tally = parseTally(conflict.tally);
  const lost = lease.epoch === epoch && hasLost(counter, lease, tally, { at, redisNow });
  const missing: Record<string, number> = {};
  if (lease.epoch !== epoch) {
    for (const id of aliveOthers(lease, redisNow)) {
      const entry = tally?.entries[id];
      if (entry === undefined || entry.seq < (lease.tally.entries[id]?.seq ?? 0))
        missing[id] = redisNow + AWAIT_MS;
    }
  }
  if (tally !== null && learnTally(lease, tally)) resetUsage(counter);
  lease.tally = { ...lease.tally, awaited: { ...tally?.awaited, ...missing } };
  lease.version = conflict.version;
  lease.epoch = epoch;
  return lost;
}
