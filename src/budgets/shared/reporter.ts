import { type Counter, levelAt } from '../counter.ts';
import type { TallyExchange } from './exchange.ts';
import { type Lease, updateDemand } from './lease.ts';
import { isUnreported } from './lease-use.ts';
import { createPresence } from './presence.ts';
import { acceptReport, type LeaseReport, learnConflict, prepareReport } from './report.ts';
import { isAwaiting } from './tally.ts';

export interface ReporterInput {
  exchange: TallyExchange;
  /** How long an answer may take before it counts as missing. It is read all the same. */
  timeoutMs: number;
  /** Milliseconds since the epoch. */
  now(): number;
  /** A new name, unlike any other. */
  newId(): string;
  /** Calls `run` after `ms` milliseconds, unless what it returns is called before. */
  after(ms: number, run: () => void): () => void;
  /** The ids that this gateway had after earlier starts. */
  former: readonly string[];
  /** Keeps what may be used of a budget where it outlives this process, before it is used. */
  save(lease: Lease): void;
  /** What the requests that wait may use of a counter, each. */
  askFor(counter: Counter): number[];
  /** Called after each answer, and when none came in time or a question failed. */
  onAnswer(): void;
  onSilence(error: unknown): void;
}

/** Reports what this gateway uses of its budgets, and receives what the others use. */
export interface Reporter {
  /** The counters whose latest state may not be in Redis. */
  readonly active: Set<Counter>;
  /** The counters of all budgets that are shared. */
  readonly joined: Set<Counter>;
  /** Reports these, and what has changed meanwhile of them. One report is under way at a time. */
  report(counters: readonly Counter[]): Promise<void>;
  isBusy(): boolean;
  /** The counters that are to be reported now; null where not even a sign of life is due. */
  due(): Counter[] | null;
  /** Whether nothing is granted for now, because others have to report first. */
  isBlocked(): boolean;
  /** Gives back everything. */
  close(): Promise<void>;
}

/** How often changes are reported, at most, and how often this gateway says that it is there, at least. */
const REPORT_MS = 250;
export const PROBE_MS = 1_000;
/** How often what is open at this moment is said again. */
const MOMENT_REPORT_MS = 5_000;
/** In an epoch that is as new as this others may still be on their way to report what they have. */
export const SETTLE_MS = 2_000;
/** Budgets of one exchange. */
const BATCH = 64;
/** How often it is tried again at once, where others have written meanwhile. */
const MAX_CONFLICTS = 20;

interface ReporterState {
  epoch: string | null;
  settling: boolean;
  /** A new epoch is to begin. */
  renew: boolean;
  clockOffset: number;
  exchangedAt: number;
  busy: Promise<void> | null;
}

export function createReporter(input: ReporterInput): Reporter {
  const { after, now } = input;
  const active = new Set<Counter>();
  const joined = new Set<Counter>();
  const presence = createPresence(input.newId, input.former);
  const state: ReporterState = {
    epoch: null,
    settling: true,
    renew: false,
    clockOffset: 0,
    exchangedAt: Number.NEGATIVE_INFINITY,
    busy: null,
  };
  const isBlocked = () => {
    const { lease } = presence;
    return state.settling || lease === null || lease.epoch !== state.epoch || isAwaiting(lease.tally);
  };
  const ask = (counters: readonly Counter[]) =>
    exchangeOnce({ ...input, active, joined, presence, state, isBlocked }, counters);

  const round = async (counters: readonly Counter[]): Promise<void> => {
    for (let first = 0; first === 0 || first < counters.length; first += BATCH) {
      let open: readonly Counter[] = counters.slice(first, first + BATCH);
      for (let tries = 0; tries === 0 || (open.length > 0 && tries < MAX_CONFLICTS); tries += 1) {
        const cancel = after(input.timeoutMs, () => input.onSilence(null));
        try {
          open = await ask(open);
        } finally {
          cancel();
        }
        input.onAnswer();
      }
    }
    for (const counter of counters) if (isSettled(counter, state.epoch, now())) active.delete(counter);
  };
  const report = (counters: readonly Counter[]): Promise<void> => {
    for (const { lease } of counters) if (lease !== null) updateDemand(lease, now());
    state.busy = round(counters)
      .catch(input.onSilence)
      .finally(() => {
        state.busy = null;
      });
    return state.busy;
  };
  return {
    active,
    joined,
    report,
    isBusy: () => state.busy !== null,
    isBlocked,
    due() {
      const at = now();
      const due = [...active].filter((counter) => isDue(counter, state.epoch, at));
      if (isPresenceDue(presence, state.epoch, at)) due.push(presence);
      return due.length > 0 || at >= state.exchangedAt + PROBE_MS ? due : null;
    },
    async close() {
      for (const { lease } of [...joined, presence]) if (lease !== null) lease.closed = 'shutdown';
      await state.busy;
      await report([...active, presence]);
    },
  };
}

interface ExchangeContext extends ReporterInput, Pick<Reporter, 'active' | 'joined' | 'isBlocked'> {
  presence: Counter;
  state: ReporterState;
}

/** One question about some counters, and what its answer changes. Returns those to ask about again. */
async function exchangeOnce(context: ExchangeContext, counters: readonly Counter[]): Promise<Counter[]> {
  const { active, joined, newId, now, presence, state } = context;
  const at = now();
  const { epoch } = state;
  const facts = { at, redisNow: at + state.clockOffset, epoch, blocked: context.isBlocked() };
  const reports = counters.flatMap((counter): LeaseReport[] => {
    const { lease } = counter;
    if (lease === null) return [];
    lease.reportedAt = at;
    return [prepareReport(counter, lease, { ...facts, waiting: context.askFor(counter), version: newId() })];
  });
  const proposals = reports.map(({ proposal }) => proposal);
  const reply = await context.exchange({ epoch, newEpoch: newId(), renew: state.renew, proposals });
  const isNew = reply.epoch !== epoch;
  // What this gateway remembers has to be put back.
  if (isNew) for (const counter of joined) active.add(counter);
  const exchangedAt = now();
  const clockOffset = reply.now - exchangedAt;
  state.exchangedAt = exchangedAt;
  state.clockOffset = clockOffset;
  state.epoch = reply.epoch;
  state.renew = false;
  state.settling = reply.epochAgeMs < SETTLE_MS;
  const again: Counter[] = [];
  for (const [index, report] of reports.entries()) {
    const conflict = reply.conflicts[index] ?? null;
    report.lease.receivedAt = exchangedAt;
    report.lease.clockOffset = clockOffset;
    if (conflict === null) {
      acceptReport(report, reply.epoch);
      // Of a budget that was removed nothing is remembered: the ledger has it.
      if (report.lease.closed !== 'removed') context.save(report.lease);
      continue;
    }
    if (learnConflict(report, conflict, { at, redisNow: reply.now, epoch: reply.epoch })) state.renew = true;
    // Who is present in an epoch has put back all that it remembers.
    if (!isNew || report.counter !== presence) again.push(report.counter);
  }
  return again;
}

function isDue(counter: Counter, epoch: string | null, at: number): boolean {
  const { lease, window } = counter;
  if (lease?.loaded !== true) return false;
  if (lease.closed !== null || lease.epoch === null || lease.epoch !== epoch) return true;
  const age = at - lease.reportedAt;
  if (isUnreported(counter, lease, at)) return age >= REPORT_MS;
  if (window.kind === 'moment' && levelAt(counter, at).held > 0 && age >= MOMENT_REPORT_MS) return true;
  return lease.free > 0 && age >= PROBE_MS;
}

function isPresenceDue({ lease }: Counter, epoch: string | null, at: number): boolean {
  return lease !== null && (lease.epoch !== epoch || at - lease.reportedAt >= MOMENT_REPORT_MS);
}

/** Whether nothing has to be reported of a counter until it is used again. */
function isSettled(counter: Counter, epoch: string | null, at: number): boolean {
  const { lease, window } = counter;
  if (lease === null) return true;
  if (lease.closed !== null) return lease.confirmedSeq === lease.seq;
  if (window.kind === 'moment' && levelAt(counter, at).held > 0) return false;
  return lease.free === 0 && lease.epoch === epoch && !isUnreported(counter, lease, at);
}
