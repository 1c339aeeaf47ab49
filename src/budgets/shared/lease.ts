import { emptyTally, mergeTallies, type Tally, type TallyEntry } from './tally.ts';

/**
 * What one gateway may use of a budget that it shares with others, without asking: `free`, beyond what it has reported.
 * At every moment Redis counts at least that for it, whatever became of a report whose answer did not come.
 */
export interface Lease {
  /** Whose tally it is: the same for every gateway that shares its keys, combos and connections with this one. */
  readonly key: string;
  /** The id under which this gateway reports: a new one for each start. */
  readonly me: string;
  /** The ids under which it reported after earlier starts. */
  former: readonly string[];
  /** The tally as last received, and its version in Redis; null before that. */
  tally: Tally;
  version: string | null;
  /** The epoch of Redis in which that was. */
  epoch: string | null;
  /** Why it is to be given back; null while it is in use. */
  closed: 'removed' | 'shutdown' | null;
  /** False until what this gateway remembers of earlier starts was read. */
  loaded: boolean;
  /** What was reported as used and set aside, by bucket. */
  reported: ReadonlyMap<number, number>;
  free: number;
  /** Until when `free` may be used, in milliseconds since the epoch. */
  until: number;
  /** The last version of the own entry that was written, and the last that Redis has confirmed. */
  seq: number;
  confirmedSeq: number;
  demand: Demand;
  /** When it was last reported. */
  reportedAt: number;
  /** When the tally was last received. */
  receivedAt: number;
  /** How far Redis's clock is ahead of this gateway's, in milliseconds. */
  clockOffset: number;
}

/** How much a gateway uses of a budget. */
interface Demand {
  /** What one request uses about. */
  unit: number;
  /** What is wanted in reserve. */
  want: number;
  /** Admitted since the last report. */
  admitted: number;
  lastAt: number;
  /** There was less than is wanted. */
  limited: boolean;
}

/** Without requests for so long, nothing is kept in reserve. */
const IDLE_MS = 30_000;

export function createLease(key: string, me: string): Lease {
  return {
    key,
    me,
    former: [],
    tally: emptyTally,
    version: null,
    epoch: null,
    closed: null,
    loaded: false,
    reported: new Map(),
    free: 0,
    until: 0,
    seq: 0,
    confirmedSeq: 0,
    demand: { unit: 0, want: 0, admitted: 0, lastAt: Number.NEGATIVE_INFINITY, limited: false },
    reportedAt: Number.NEGATIVE_INFINITY,
    receivedAt: Number.NEGATIVE_INFINITY,
    clockOffset: 0,
  };
}

/** Takes down that a request asks for an amount. */
export function noteDemand({ demand }: Lease, amount: number, at: number): void {
  demand.unit = Math.max(amount, Math.floor(demand.unit * 0.9));
  demand.lastAt = at;
}

/** Takes down that a request was let in. */
export function noteAdmitted({ demand }: Lease, amount: number): void {
  demand.admitted += amount;
}

/** What a gateway holds in reserve: what it uses in a second, at least one request's for as long as there are some. */
export function updateDemand({ demand, reportedAt }: Lease, at: number): void {
  const elapsed = Math.max(20, Math.min(1_000, at - reportedAt));
  const perSecond = (demand.admitted * 1_000) / elapsed;
  const least = at < demand.lastAt + IDLE_MS ? demand.unit : 0;
  demand.want = Math.ceil(Math.max(least, perSecond, demand.want / 2 >= demand.unit ? demand.want / 2 : 0));
  demand.admitted = 0;
}

/** The own entry as it is reported next. */
export function nextEntry(lease: Lease, free: number, until: number, seen: number): TallyEntry {
  return { seq: lease.seq, used: [...lease.reported], free, until, seen };
}

/** Takes over what is newer in another version of the tally. True where that forgets what was used so far. */
export function learnTally(lease: Lease, received: Tally): boolean {
  const reset = received.resetAt > lease.tally.resetAt;
  lease.tally = mergeTallies(lease.tally, received);
  if (reset) forgetLease(lease);
  return reset;
}

/** Nothing is reported any more, and nothing may be used. */
export function forgetLease(lease: Lease): void {
  lease.reported = new Map();
  lease.free = 0;
}
