import { indexOf } from '../budgets/budget-index.ts';
import { createCounter } from '../budgets/counter.ts';
import type { Limits } from '../budgets/limits.ts';
import type { RemainingLimit } from '../budgets/rate-headers.ts';
import type { Refusal } from '../budgets/refusal.ts';
import type {
  BudgetReservation,
  ChargedRequest,
  ChargePath,
  ChargeScope,
  RequestUsage,
} from '../budgets/reservation.ts';
import type { BudgetMetric, BudgetRecord } from '../budgets/schema.ts';
import type { Channel } from './channel.ts';
import type { OwnerQuestions, WorkerEvent } from './message.ts';
import { createSettlements, type Settlements } from './settlements.ts';
import {
  type Claimant,
  createSpareReservations,
  type GrantedSpares,
  kindName,
  type SpareReservations,
} from './spare-reservations.ts';

/** The budgets and limits as a worker sees them: the owner counts, the worker knows which requests concern any. */
export interface RemoteLimits extends Pick<Limits, 'reservationFor' | 'isPriced'> {
  /** Reads which budgets there are. */
  reload(): Promise<void>;
  /** Gives back what is reserved for requests to come, and what those that have ended did not use. */
  giveBack(): void;
}

export interface RemoteLimitsInput {
  owner: Pick<Channel<WorkerEvent, OwnerQuestions>, 'ask' | 'tell'>;
  budgets: { list(): Promise<readonly BudgetRecord[]> };
  /** Milliseconds since the epoch. */
  now(): number;
}

/** A request that no budget concerns is let in without asking the owner. */
export async function openRemoteLimits({ budgets, now, owner }: RemoteLimitsInput): Promise<RemoteLimits> {
  // Counters that count nothing: only what they are about is looked at.
  const load = async () => indexOf((await budgets.list()).map(createCounter));
  let index = await load();
  let last = 0;
  const spares = createSpareReservations(now, (reservations) =>
    owner.tell({ kind: 'returned', reservations }),
  );
  const settlements = createSettlements(owner.tell);
  const own: OwnLimit = {
    owner,
    settlements,
    spares,
    metricsOf: (request, path) => new Set(index.applying(request, path).map(({ budget }) => budget.metric)),
    numbers(count) {
      const first = last + 1;
      last += count;
      return first;
    },
  };
  return {
    giveBack() {
      settlements.flush();
      spares.giveBack();
    },
    reservationFor: (request) => (index.mayConcern(request) ? remoteReservation(own, request) : null),
    isPriced: (request) => index.isPriced(request),
    async reload() {
      index = await load();
      // Other budgets may concern the next request.
      spares.giveBack();
    },
  };
}

interface OwnLimit {
  owner: RemoteLimitsInput['owner'];
  settlements: Settlements;
  spares: SpareReservations;
  /** What the budgets of a request count. */
  metricsOf(request: ChargedRequest, path: ChargePath): Set<BudgetMetric>;
  /** Draws so many numbers of reservations. @returns the first */
  numbers(count: number): number;
}

function remoteReservation(
  { metricsOf, numbers, owner, settlements, spares }: OwnLimit,
  request: ChargedRequest,
): BudgetReservation {
  let rates: readonly RemainingLimit[] = [];
  let reservation: number | null = null;
  let reservedUsage: RequestUsage | null = null;
  /** What the budgets count that it asked last. */
  let metrics: ReadonlySet<BudgetMetric> = new Set();
  let closed = false;
  const ask = async (claimant: Claimant): Promise<Refusal | null> => {
    const { most, path } = claimant;
    // One that moves to another target keeps its number, behind which there is no room for others.
    const wanted = reservation === null ? spares.requestSpares(claimant) : null;
    const number = reservation ?? numbers(1 + (wanted?.count ?? 0));
    reservation = number;
    let granted: GrantedSpares | null = null;
    try {
      // What it has given back may be what this one needs.
      settlements.flush();
      const question = { reservation: number, request, ...path, ...most, spares: wanted?.count ?? 0 };
      const answer = await owner.ask('reserve', question);
      granted = { ...answer, first: number + 1 };
      rates = answer.rates;
      reservedUsage = answer.refusal === null ? most : null;
      return answer.refusal;
    } finally {
      if (wanted !== null) spares.addSpares(claimant, wanted, granted);
    }
  };
  /** Has more reserved for requests to come, before there is none for one of them. */
  const askAhead = async (claimant: Claimant): Promise<void> => {
    const wanted = spares.requestSparesAhead(claimant);
    if (wanted === null) return;
    const { count, most } = wanted;
    const first = numbers(count);
    let granted: GrantedSpares | null = null;
    try {
      settlements.flush();
      const question = { reservation: first, request, ...claimant.path, ...most, spares: count };
      granted = { ...(await owner.ask('reserveAhead', question)), first };
    } finally {
      spares.addSparesAhead(claimant, wanted, granted);
    }
  };
  const takeSpare = (claimant: Claimant): boolean => {
    const spare = spares.take(claimant);
    if (spare === null) return false;
    ({ reservedUsage, rates, reservation } = spare);
    // A request that finds none asks itself, and fails if the owner is gone.
    askAhead(claimant).catch(() => {});
    return true;
  };
  return {
    rates: () => rates,
    reserve({ connectionId, innerCombos, tokens, usd }: ChargeScope) {
      const path = { connectionId, innerCombos };
      const most = { tokens: tokens(), usd: usd() };
      metrics = metricsOf(request, path);
      const claimant = { kind: kindName(request, path), request, path, most, metrics };
      if (reservation !== null) return ask(claimant);
      spares.note(claimant);
      if (takeSpare(claimant)) return null;
      const coming = spares.pendingAnswer(claimant);
      if (coming === null) return ask(claimant);
      // It may have ended meanwhile, or there was not enough room for all who wait.
      return coming.then(() => (closed || takeSpare(claimant) ? null : ask(claimant)));
    },
    settle(used) {
      if (closed) return;
      closed = true;
      if (reservation === null) return;
      settlements.add(reservation, used, isMore(used, reservedUsage, metrics));
    },
  };
}

/**
 * Whether a request used more than was set aside of what budgets count. What is given back may wait: who finds no room asks for it.
 */
function isMore(
  used: RequestUsage | null,
  held: RequestUsage | null,
  metrics: ReadonlySet<BudgetMetric>,
): boolean {
  if (used === null) return false;
  if (held === null) return true;
  if (metrics.has('tokens') && used.tokens > held.tokens) return true;
  return metrics.has('usd') && (used.usd ?? 0) > (held.usd ?? 0);
}
