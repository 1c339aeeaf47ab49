import type { RequestUsage } from '../budgets/ended-requests.ts';
import type { RemainingLimit } from '../budgets/rate-headers.ts';
import type { ChargedRequest, ChargePath } from '../budgets/reservation.ts';
import type { BudgetMetric } from '../budgets/schema.ts';

/** Most reservations that a worker holds in advance for requests of one kind. */
const MAX_SPARES = 512;
/** More are asked for when this part of as many as are wanted is left: those that come until the answer take it. */
const FEW_SHARE = 4;
/** Below that, a request that finds none asks for its next ones with its own reservation. */
const MIN_WANTED_AHEAD = 16;
/** Budgets count by buckets that begin with whole seconds: what was reserved in one may not be used in the next. */
const SECOND_MS = 1_000;

/** A request that asks for a reservation. */
export interface Claimant {
  /** As `kindName` has it: requests are of one kind where the same budgets concern them. */
  kind: string;
  request: ChargedRequest;
  path: ChargePath;
  /** What it may use at most; `usd` null where no price is known. */
  most: RequestUsage;
  /** What the budgets that concern it count. */
  metrics: ReadonlySet<BudgetMetric>;
}

/** A reservation that was made in advance. */
export interface Spare {
  /** The number of those that were made together. */
  reservation: number;
  /** What is set aside. */
  reservedUsage: RequestUsage;
  rates: readonly RemainingLimit[];
}

/** What was reserved in advance. */
export interface GrantedSpares {
  /** Whether the request that asked for them was let in itself. */
  hasRoom: boolean;
  /** The number of all of them. */
  reservation: number;
  spares: number;
  /** When, in milliseconds since the epoch. */
  at: number;
  rates: readonly RemainingLimit[];
}

/** What the owner is asked for in advance. */
export interface PendingSpares {
  count: number;
  /** What each may use. */
  most: RequestUsage;
  /** Resolves with whether there was room. */
  answered: PromiseWithResolvers<boolean>;
}

/** Reservations that a worker holds for requests to come, each of which is then let in without asking the owner. */
export interface SpareReservations {
  /** Counts a request, by which it is decided how many are reserved in advance. */
  note(claimant: Claimant): void;
  /** A reservation for this request; null where there is none. */
  take(claimant: Claimant): Spare | null;
  /**
   * Resolves when the owner has answered a question of a request like this one, with whether there was room; null where there is no
   * such question.
   */
  pendingAnswer(claimant: Claimant): Promise<boolean> | null;
  /**
   * How many more to ask for with the reservation of this request, from 0 on: as many as there were such requests in this second or
   * the one before; null where there can be none, and while others are asked for. Whoever asks has to say what came of it with
   * `addSpares`.
   */
  requestSpares(claimant: Claimant): PendingSpares | null;
  /** @param granted null where the owner did not answer */
  addSpares(claimant: Claimant, requested: PendingSpares, granted: GrantedSpares | null): void;
  /**
   * What to ask for with no request that waits for it, where there are many requests of this kind and few reservations are left; null
   * where that is not so. Whoever asks for some has to say what came of it with `addSparesAhead`.
   */
  requestSparesAhead(claimant: Claimant): PendingSpares | null;
  /** @param granted null where the owner did not answer */
  addSparesAhead(claimant: Claimant, requested: PendingSpares, granted: GrantedSpares | null): void;
  /** Gives back what is not used. */
  giveBack(): void;
}

/** Reservations that were made together. */
interface Batch {
  reservation: number;
  /** How many are not used. */
  left: number;
}

interface Kind {
  second: number;
  /** Requests of this kind in this second, and in the one before. */
  count: number;
  before: number;
  /** What the owner is being asked for; null while it is not. */
  pending: PendingSpares | null;
  /** Of which each has some left. */
  batches: Batch[];
  /** What is set aside for each of them. */
  reservedUsage: RequestUsage;
  rates: readonly RemainingLimit[];
  /** How many were taken since `rates`; those that were left then are taken off, because `rates` count them as used. */
  takenCount: number;
}

/**
 * @param now milliseconds since the epoch, by the clock of the owner's machine
 * @param onUnused told how many of the reservations with a number nobody has used
 */
export function createSpareReservations(
  now: () => number,
  onUnused: (reservation: number, count: number) => void,
): SpareReservations {
  const kinds = new Map<string, Kind>();
  let timer: NodeJS.Timeout | null = null;

  const empty = (kind: Kind): void => {
    for (const { left, reservation } of kind.batches) onUnused(reservation, left);
    kind.batches = [];
  };
  const giveBack = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    for (const kind of kinds.values()) empty(kind);
  };
  /** In the next second nothing of it may be used, and there may be no request that finds that out. */
  const endSecond = (): void => {
    giveBack();
    const second = Math.floor(now() / SECOND_MS);
    for (const [name, kind] of kinds) if (kind.second < second - 1) kinds.delete(name);
    if (kinds.size > 0) timer = setTimeout(endSecond, (second + 1) * SECOND_MS - now()).unref();
  };
  /** Requests of the same kind in this second. */
  const kindOf = (claimant: Claimant): Kind => {
    const second = Math.floor(now() / SECOND_MS);
    const { kind: name } = claimant;
    const existing = kinds.get(name);
    if (existing?.second === second) return existing;
    if (existing !== undefined) giveBack();
    const kind: Kind = {
      second,
      count: 0,
      before: existing?.second === second - 1 ? existing.count : 0,
      pending: null,
      batches: [],
      reservedUsage: claimant.most,
      rates: [],
      takenCount: 0,
    };
    kinds.set(name, kind);
    timer ??= setTimeout(endSecond, (second + 1) * SECOND_MS - now()).unref();
    return kind;
  };

  const askFor = (kind: Kind, count: number, most: RequestUsage): PendingSpares => {
    kind.pending = { count, most, answered: Promise.withResolvers() };
    return kind.pending;
  };
  /** What was granted and may be used in this second; null for none. */
  const batchFor = (kind: Kind, requested: PendingSpares, granted: GrantedSpares | null): Batch | null => {
    // The second in which it was asked may be over, and another one asked.
    if (kind.pending === requested) kind.pending = null;
    requested.answered.resolve(granted?.hasRoom === true);
    if (granted === null || granted.spares === 0) return null;
    const { at, reservation, spares } = granted;
    if (kind.second === Math.floor(at / SECOND_MS)) return { reservation, left: spares };
    onUnused(reservation, spares);
    return null;
  };

  return {
    giveBack,
    note(claimant) {
      kindOf(claimant).count += 1;
    },
    pendingAnswer(claimant) {
      const { pending } = kindOf(claimant);
      return pending === null || !fits(claimant, pending.most) ? null : pending.answered.promise;
    },
    take(claimant) {
      const kind = kindOf(claimant);
      if (!fits(claimant, kind.reservedUsage)) return null;
      const [batch] = kind.batches;
      if (batch === undefined) return null;
      batch.left -= 1;
      if (batch.left === 0) kind.batches.shift();
      kind.takenCount += 1;
      const { reservation } = batch;
      return { reservation, reservedUsage: kind.reservedUsage, rates: ratesAfter(kind) };
    },
    requestSpares(claimant) {
      const kind = kindOf(claimant);
      if (kind.pending !== null || claimant.metrics.has('concurrency')) return null;
      return askFor(kind, Math.max(0, wantedOf(kind) - 1), claimant.most);
    },
    addSpares(claimant, requested, granted) {
      const kind = kindOf(claimant);
      const batch = batchFor(kind, requested, granted);
      if (granted === null || batch === null) return;
      // What was left did not cover what this request may use.
      empty(kind);
      kind.batches = [batch];
      kind.reservedUsage = requested.most;
      kind.rates = granted.rates;
      kind.takenCount = 0;
    },
    requestSparesAhead(claimant) {
      const kind = kindOf(claimant);
      if (kind.pending !== null || claimant.metrics.has('concurrency')) return null;
      const wanted = wantedOf(kind);
      const left = leftOf(kind);
      if (wanted < MIN_WANTED_AHEAD || left > wanted / FEW_SHARE) return null;
      return askFor(kind, wanted - left, kind.reservedUsage);
    },
    addSparesAhead(claimant, requested, granted) {
      const kind = kindOf(claimant);
      const batch = batchFor(kind, requested, granted);
      if (granted === null || batch === null) return;
      // All were given back meanwhile, and others asked for.
      if (kind.reservedUsage !== requested.most && kind.batches.length > 0) {
        onUnused(batch.reservation, batch.left);
        return;
      }
      kind.takenCount = -leftOf(kind);
      kind.batches.push(batch);
      kind.reservedUsage = requested.most;
      kind.rates = granted.rates;
    },
  };
}

/** How many reservations a worker holds in advance at most: as many as there were such requests in this second or the one before. */
function wantedOf({ before, count }: Kind): number {
  return Math.min(MAX_SPARES, Math.max(count, before));
}

function leftOf({ batches }: Kind): number {
  return batches.reduce((sum, { left }) => sum + left, 0);
}

/** Names the kind of a request. Made once for each: it is looked up several times. */
export function kindName({ comboId, keyId, tags = [] }: ChargedRequest, path: ChargePath): string {
  return [keyId, comboId ?? '', path.connectionId, ...path.innerCombos, '', ...tags].join('\n');
}

/** Whether what was set aside covers what a request may use, as far as that is counted. */
function fits({ metrics, most }: Claimant, held: RequestUsage): boolean {
  if (metrics.has('tokens') && most.tokens > held.tokens) return false;
  if (!metrics.has('usd')) return true;
  return (most.usd === null) === (held.usd === null) && (most.usd ?? 0) <= (held.usd ?? 0);
}

/** What is left after those that were taken, as far as this worker knows. */
function ratesAfter({ reservedUsage, rates, takenCount }: Kind): RemainingLimit[] {
  return rates.map((rate) => {
    const each = rate.metric === 'requests' ? 1 : Math.ceil(reservedUsage.tokens);
    return { ...rate, remaining: Math.max(0, rate.remaining - takenCount * each) };
  });
}
