import type { RemainingLimit } from '../budgets/rate-headers.ts';
import type { ChargedRequest, ChargePath, RequestUsage } from '../budgets/reservation.ts';
import type { BudgetMetric } from '../budgets/schema.ts';

/** Most reservations that a worker holds in advance for requests of one kind. */
const MAX_SPARES = 128;
/** So many are left when more are asked for, before those that come meanwhile have to ask themselves. */
const FEW_SPARES = MAX_SPARES / 2;
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
  /** Its number. */
  reservation: number;
  /** What is set aside. */
  reservedUsage: RequestUsage;
  rates: readonly RemainingLimit[];
}

/** What was reserved in advance. */
export interface GrantedSpares {
  /** The number of the first. */
  first: number;
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
  /** How many no request waits for yet. */
  free: number;
  answered: PromiseWithResolvers<void>;
}

/** Reservations that a worker holds for requests to come, each of which is then let in without asking the owner. */
export interface SpareReservations {
  /** Counts a request, by which it is decided how many are reserved in advance. */
  note(claimant: Claimant): void;
  /** A reservation for this request; null where there is none. */
  take(claimant: Claimant): Spare | null;
  /** Resolves when the owner has answered, where one is on its way that this request may take; null where it has to be asked. */
  pendingAnswer(claimant: Claimant): Promise<void> | null;
  /**
   * How many more to ask for with the reservation of this request: as many as there were such requests in this second or the one
   * before; null for none, and while others are asked for. Whoever asks for some has to say what came of it with `addSpares`.
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

interface Kind {
  second: number;
  /** Requests of this kind in this second, and in the one before. */
  count: number;
  before: number;
  /** What the owner is being asked for; null while it is not. */
  pending: PendingSpares | null;
  numbers: number[];
  reservedUsage: RequestUsage;
  rates: readonly RemainingLimit[];
  /** How many were taken since `rates`; those that were left then are taken off, because `rates` count them as used. */
  takenCount: number;
}

/**
 * @param now milliseconds since the epoch, by the clock of the owner's machine
 * @param onUnused told the numbers of reservations that nobody has used
 */
export function createSpareReservations(
  now: () => number,
  onUnused: (reservations: readonly number[]) => void,
): SpareReservations {
  const kinds = new Map<string, Kind>();
  let timer: NodeJS.Timeout | null = null;

  const giveBack = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const unused: number[] = [];
    for (const kind of kinds.values()) unused.push(...kind.numbers.splice(0));
    if (unused.length > 0) onUnused(unused);
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
      numbers: [],
      reservedUsage: claimant.most,
      rates: [],
      takenCount: 0,
    };
    kinds.set(name, kind);
    timer ??= setTimeout(endSecond, (second + 1) * SECOND_MS - now()).unref();
    return kind;
  };

  const askFor = (kind: Kind, count: number, most: RequestUsage): PendingSpares => {
    kind.pending = { count, most, free: count, answered: Promise.withResolvers() };
    return kind.pending;
  };
  /** The numbers of what was granted, which may be used in this second; null for none. */
  const numbersFor = (
    kind: Kind,
    requested: PendingSpares,
    granted: GrantedSpares | null,
  ): number[] | null => {
    // The second in which it was asked may be over, and another one asked.
    if (kind.pending === requested) kind.pending = null;
    requested.answered.resolve();
    if (granted === null) return null;
    const { at, first, spares } = granted;
    const numbers = Array.from({ length: spares }, (_, index) => first + index);
    if (kind.second === Math.floor(at / SECOND_MS)) return numbers;
    if (numbers.length > 0) onUnused(numbers);
    return null;
  };

  return {
    giveBack,
    note(claimant) {
      kindOf(claimant).count += 1;
    },
    pendingAnswer(claimant) {
      const { pending } = kindOf(claimant);
      if (pending === null || pending.free === 0 || !fits(claimant, pending.most)) return null;
      pending.free -= 1;
      return pending.answered.promise;
    },
    take(claimant) {
      const kind = kindOf(claimant);
      if (!fits(claimant, kind.reservedUsage)) return null;
      const reservation = kind.numbers.shift();
      if (reservation === undefined) return null;
      kind.takenCount += 1;
      return { reservation, reservedUsage: kind.reservedUsage, rates: ratesAfter(kind) };
    },
    requestSpares(claimant) {
      const kind = kindOf(claimant);
      if (kind.pending !== null || claimant.metrics.has('concurrency')) return null;
      const count = Math.min(MAX_SPARES, Math.max(kind.count, kind.before) - 1);
      return count > 0 ? askFor(kind, count, claimant.most) : null;
    },
    addSpares(claimant, requested, granted) {
      const kind = kindOf(claimant);
      const numbers = numbersFor(kind, requested, granted);
      if (granted === null || numbers === null) return;
      // What was left did not cover what this request may use.
      if (kind.numbers.length > 0) onUnused(kind.numbers);
      kind.numbers = numbers;
      kind.reservedUsage = requested.most;
      kind.rates = granted.rates;
      kind.takenCount = 0;
    },
    requestSparesAhead(claimant) {
      const kind = kindOf(claimant);
      if (kind.pending !== null || claimant.metrics.has('concurrency')) return null;
      const isBusy = Math.max(kind.count, kind.before) >= MAX_SPARES;
      if (!isBusy || kind.numbers.length > FEW_SPARES) return null;
      return askFor(kind, MAX_SPARES - kind.numbers.length, kind.reservedUsage);
    },
    addSparesAhead(claimant, requested, granted) {
      const kind = kindOf(claimant);
      const numbers = numbersFor(kind, requested, granted);
      if (granted === null || numbers === null) return;
      // All were given back meanwhile, and others asked for.
      if (kind.reservedUsage !== requested.most && kind.numbers.length > 0) {
        onUnused(numbers);
        return;
      }
      kind.takenCount = -kind.numbers.length;
      kind.numbers = [...kind.numbers, ...numbers];
      kind.reservedUsage = requested.most;
      kind.rates = granted.rates;
    },
  };
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
