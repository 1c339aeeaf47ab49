import type { RemainingLimit } from '../budgets/rate-headers.ts';
import type { ChargedRequest, ChargePath, RequestUsage } from '../budgets/reservation.ts';
import type { BudgetMetric } from '../budgets/schema.ts';

/** Most reservations that a worker holds in advance for requests of one kind. */
const MAX_SPARES = 64;
/** Budgets count by buckets that begin with whole seconds: what was reserved in one may not be used in the next. */
const SECOND_MS = 1_000;

/** A request that asks for a reservation. */
export interface Claimant {
  asked: ChargedRequest;
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
  held: RequestUsage;
  rates: readonly RemainingLimit[];
}

/** What was reserved for a request, and in advance for more of its kind. */
export interface Granted {
  /** The number of the request's own reservation, which those in advance follow. */
  reservation: number;
  spares: number;
  /** When, in milliseconds since the epoch. */
  at: number;
  rates: readonly RemainingLimit[];
}

/** Reservations that a worker holds for requests to come, each of which is then let in without asking the owner. */
export interface SpareReservations {
  /** A reservation for this request; null where there is none, and the owner has to be asked. */
  take(claimant: Claimant): Spare | null;
  /**
   * How many more to ask for with the reservation of this request: as many as there were such requests in this second, and none while
   * others are asked for. Whoever asks for some has to say what came of it.
   */
  wanted(claimant: Claimant): number;
  /** @param granted null where the owner did not answer */
  put(claimant: Claimant, granted: Granted | null): void;
  /** Gives back what is not used. */
  giveBack(): void;
}

interface Kind {
  second: number;
  /** Requests of this kind in this second. */
  count: number;
  /** Whether the owner is being asked for more. */
  asking: boolean;
  numbers: number[];
  held: RequestUsage;
  rates: readonly RemainingLimit[];
  /** Of those that came with `rates`, how many were taken. */
  taken: number;
}

/**
 * @param now milliseconds since the epoch, by the clock of the owner's machine
 * @param returned told the numbers of reservations that nobody has used
 */
export function createSpareReservations(
  now: () => number,
  returned: (reservations: readonly number[]) => void,
): SpareReservations {
  const kinds = new Map<string, Kind>();
  let timer: NodeJS.Timeout | null = null;

  const giveBack = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const unused = [...kinds.values()].flatMap(({ numbers }) => numbers);
    kinds.clear();
    if (unused.length > 0) returned(unused);
  };
  /** Requests of the same kind in this second. */
  const kindOf = (claimant: Claimant): Kind => {
    const second = Math.floor(now() / SECOND_MS);
    const name = nameOf(claimant);
    const existing = kinds.get(name);
    if (existing?.second === second) return existing;
    if (existing !== undefined) giveBack();
    const kind: Kind = {
      second,
      count: 0,
      asking: false,
      numbers: [],
      held: claimant.most,
      rates: [],
      taken: 0,
    };
    kinds.set(name, kind);
    // In the next second nothing of it may be used, and nobody may come to see that.
    timer ??= setTimeout(giveBack, (second + 1) * SECOND_MS - now()).unref();
    return kind;
  };

  return {
    giveBack,
    take(claimant) {
      const kind = kindOf(claimant);
      kind.count += 1;
      if (!fits(claimant, kind.held)) return null;
      const reservation = kind.numbers.shift();
      if (reservation === undefined) return null;
      kind.taken += 1;
      return { reservation, held: kind.held, rates: ratesAfter(kind) };
    },
    wanted(claimant) {
      const kind = kindOf(claimant);
      if (kind.asking || claimant.metrics.has('concurrency')) return 0;
      const wanted = Math.min(MAX_SPARES, kind.count - 1);
      kind.asking = wanted > 0;
      return wanted;
    },
    put(claimant, granted) {
      const kind = kindOf(claimant);
      kind.asking = false;
      if (granted === null) return;
      const { at, rates, reservation, spares } = granted;
      const numbers = Array.from({ length: spares }, (_, index) => reservation + 1 + index);
      if (kind.second !== Math.floor(at / SECOND_MS)) {
        if (numbers.length > 0) returned(numbers);
        return;
      }
      // What was left did not cover what this request may use.
      if (kind.numbers.length > 0) returned(kind.numbers);
      Object.assign(kind, { numbers, held: claimant.most, rates, taken: 0 });
    },
  };
}

/** Requests are of one kind where the same budgets concern them. */
function nameOf({ asked: { comboId, keyId, tags = [] }, path }: Claimant): string {
  return [keyId, comboId ?? '', path.connectionId, ...path.innerCombos, '', ...tags].join('\n');
}

/** Whether what was set aside covers what a request may use, as far as that is counted. */
function fits({ metrics, most }: Claimant, held: RequestUsage): boolean {
  if (metrics.has('tokens') && most.tokens > held.tokens) return false;
  if (!metrics.has('usd')) return true;
  return (most.usd === null) === (held.usd === null) && (most.usd ?? 0) <= (held.usd ?? 0);
}

/** What is left after those that were taken, as far as this worker knows. */
function ratesAfter({ held, rates, taken }: Kind): RemainingLimit[] {
  return rates.map((rate) => {
    const each = rate.metric === 'requests' ? 1 : Math.ceil(held.tokens);
    return { ...rate, remaining: Math.max(0, rate.remaining - taken * each) };
  });
}
