import { indexOf } from './budget-index.ts';
import type { SharedClaims } from './claim.ts';
import { addUse, type Counter, createCounter, fits, NANO, remainingAt, resetUsage } from './counter.ts';
import type { RequestUsage } from './ended-requests.ts';
import {
  type AdvanceReservations,
  type BudgetReservation,
  type ChargedRequest,
  type ChargePath,
  type ChargeScope,
  claimOf,
  createReservation,
  markThresholdsReached,
  type ReservationContext,
  reserveInAdvance,
} from './reservation.ts';
import type { BudgetRecord } from './schema.ts';

/** What was used in a part of a window, with what is not known counted as nothing. */
export interface PastUsage {
  /** Any moment of the part, in milliseconds since the epoch. */
  at: number;
  usd: number;
  /** Input and output. */
  tokens: number;
  requests: number;
  /** Requests that used something whose cost is not known. */
  unpriced: number;
  /** The id of the first request. */
  first: string;
}

/** Which requests to sum up: those of a subject that began from `since` on and had ended by `before`. */
export interface PastUsageQuery extends Pick<BudgetRecord, 'scope' | 'subject'> {
  since: number;
  before: number;
  /** Length of the parts; they begin at its multiples. */
  stepMs: number;
}

export interface LimitsInput extends Pick<ReservationContext, 'nameOf' | 'notify' | 'now'> {
  /** Sums over requests of the past. */
  used(query: PastUsageQuery): Promise<readonly PastUsage[]>;
  /** Where several gateways share their limits. */
  shared: SharedBudgets | null;
}

/** What the budgets of several gateways have in common. */
export interface SharedBudgets extends SharedClaims {
  /** Counts a budget together with the other gateways. `past`: what this one has counted before it shared anything. */
  join(counter: Counter, past: () => Promise<readonly PastUsage[]>): Promise<void>;
  /** Gives back what a budget that is no more holds. */
  leave(counter: Counter): void;
  /** Forgets what a budget has counted, for all. */
  reset(counter: Counter): void;
}

/** Budgets and limits as they stand at this moment, in memory. */
export interface Limits {
  /** The reservation of one request, which is empty until its `reserve` is called. Null where no budget counts the request. */
  reservationFor(request: ChargedRequest): BudgetReservation | null;
  /**
   * Reserves for up to `count` later requests, and for no more than take a small share of what is left. For none if the budgets are
   * shared with other gateways, or if one of them counts concurrency.
   */
  reserveInAdvance(request: ChargedRequest, scope: ChargeScope, count: number): AdvanceReservations;
  /** Whether a budget in USD may be charged for a request: then its price must be that of what runs. */
  isPriced(request: ChargedRequest): boolean;
  /**
   * Counts what a request turned out to have used beside what was counted at its end.
   * @param began milliseconds since the epoch: the window that it is counted in
   */
  countMore(request: ChargedRequest, path: ChargePath | null, began: number, more: RequestUsage): void;
  /** Whether a connection's own limits leave room for one more request. */
  hasRoom(connectionId: string): boolean;
  /** Takes over what is stored. A budget that is new counts what was used in its window before. */
  configure(budgets: readonly BudgetRecord[]): Promise<void>;
  /** The counter of a budget; null when it is not in force. */
  counter(id: string): Counter | null;
  /** Every budget that is in force. */
  inForce(): BudgetState[];
}

/** A budget with what it has counted. */
export interface BudgetState {
  counter: Counter;
  /** The name of the key, combo or connection; null for one that has none. */
  subjectName: string | null;
}

/** What is reserved in advance may take the part of what is left that this divides it into. */
const SPARE_SHARE = 32;

/** The limits of one gateway. */
export function createLimits({ used, ...input }: LimitsInput): Limits {
  let counters: ReadonlyMap<string, Counter> = new Map();
  let index = indexOf([]);
  const empty = new Set<Counter>();
  const startedAt = input.now();

  const applying = (request: ChargedRequest, path: ChargePath | null) => index.applying(request, path);
  const context: ReservationContext = { ...input, applying };
  const replace = (budgets: readonly BudgetRecord[]) => {
    const next = new Map<string, Counter>();
    for (const budget of budgets) {
      const counter = counters.get(budget.id) ?? createCounter(budget);
      if (!counters.has(budget.id)) empty.add(counter);
      const isReset = counter.budget.resetAt !== budget.resetAt;
      counter.budget = budget;
      if (isReset) {
        resetUsage(counter);
        input.shared?.reset(counter);
      }
      next.set(budget.id, counter);
    }
    for (const [id, counter] of counters) if (!next.has(id)) input.shared?.leave(counter);
    counters = next;
    index = indexOf(next.values());
  };

  /** How many more reservations like this one take no more than a small share of what is left. */
  const spareOf = (request: ChargedRequest, scope: ChargeScope): number => {
    const at = input.now();
    const counters = applying(request, scope);
    if (input.shared !== null || counters.some(({ budget }) => budget.metric === 'concurrency')) return 0;
    return Math.min(
      ...counters.map((counter) => {
        const { amount } = claimOf(counter, scope, at);
        return amount === 0 ? Infinity : Math.floor(remainingAt(counter, at) / SPARE_SHARE / amount);
      }),
    );
  };

  return {
    counter: (id) => counters.get(id) ?? null,
    inForce: () =>
      [...counters.values()].map((counter) => {
        const { scope, subject } = counter.budget;
        return { counter, subjectName: subject === null ? null : input.nameOf(scope, subject) };
      }),
    reservationFor: (request) => (index.mayConcern(request) ? createReservation(context, request) : null),
    reserveInAdvance: (request, scope, count) =>
      reserveInAdvance(context, request, scope, Math.min(count, spareOf(request, scope))),
    isPriced: (request) => index.isPriced(request),
    countMore(request, path, began, more) {
      for (const counter of applying(request, path)) {
        const amount = began < (counter.budget.resetAt ?? 0) ? 0 : amountOf(counter, more);
        if (amount <= 0) continue;
        addUse(counter, counter.window.bucketAt(began), { amount });
        input.shared?.onChange(counter);
      }
    },
    hasRoom(connectionId) {
      const at = input.now();
      return index.ofConnection(connectionId).every((counter) => fits(counter, 1, at));
    },
    async configure(budgets) {
      replace(budgets);
      const before = input.now();
      for (const counter of empty) {
        const query = pastOf(counter, before);
        const past = async () => (query === null ? [] : used(query));
        if (input.shared === null) for (const then of await past()) count(counter, then);
        else await input.shared.join(counter, past);
        if (counter.budget.updatedAt < startedAt) markThresholdsReached(counter, before);
        empty.delete(counter);
      }
    },
  };
}

/** What a counter that begins at `before` has to count of the time until then. */
function pastOf({ budget, window }: Counter, before: number): PastUsageQuery | null {
  if (budget.metric === 'concurrency') return null;
  const since = Math.max(window.from(before), budget.resetAt ?? 0);
  return { scope: budget.scope, subject: budget.subject, since, before, stepMs: window.stepMs };
}

function count(counter: Counter, then: PastUsage): void {
  const unpriced = counter.budget.metric === 'usd' ? then.unpriced : 0;
  addUse(counter, counter.window.bucketAt(then.at), { amount: pastAmount(counter, then), unpriced });
}

/** What a counter counts of a part of the past. */
export function pastAmount({ budget: { metric } }: Counter, { requests, tokens, usd }: PastUsage): number {
  switch (metric) {
    case 'usd':
      return Math.round(usd * NANO);
    case 'tokens':
      return tokens;
    case 'requests':
      return requests;
    case 'concurrency':
      return 0;
  }
}

/** The request itself was counted before. */
function amountOf({ budget }: Counter, { tokens, usd }: RequestUsage): number {
  if (budget.metric === 'usd') return Math.round((usd ?? 0) * NANO);
  return budget.metric === 'tokens' ? Math.round(tokens) : 0;
}
