import { indexOf } from '../budgets/budget-index.ts';
import { createCounter } from '../budgets/counter.ts';
import type { RequestUsage } from '../budgets/ended-requests.ts';
import type { Limits } from '../budgets/limits.ts';
import type { RemainingLimit } from '../budgets/rate-headers.ts';
import type { Refusal } from '../budgets/refusal.ts';
import type { BudgetReservation, ChargedRequest, ChargePath, ChargeScope } from '../budgets/reservation.ts';
import type { BudgetMetric, BudgetRecord } from '../budgets/schema.ts';
import type { Channel } from './channel.ts';
import type { OwnerQuestions, WorkerEvent } from './message.ts';
import { createSettlements, type Settlements } from './settlements.ts';
import {
  type Claimant,
  createSpareReservations,
  type GrantedSpares,
  kindName,
  type PendingSpares,
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
  const settlements = createSettlements(owner.tell);
  const spares = createSpareReservations(now, settlements.giveBack);
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
      spares.giveBack();
      settlements.flush();
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

/**
 * Of requests that come at the same time the first asks for itself, and the next for all others. Where nothing is reserved in advance,
 * each asks for itself after that: the owner may take a second to refuse one.
 */
const MAX_WAITS = 2;

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
  /** Whether others have the same number. */
  let isSpare = false;
  let reservedUsage: RequestUsage | null = null;
  /** What the budgets count that it asked last. */
  let metrics: ReadonlySet<BudgetMetric> = new Set();
  let closed = false;
  const ask = async (claimant: Claimant): Promise<Refusal | null> => {
    const { most, path } = claimant;
    // One that moves to another target asks for itself alone.
    const wanted = reservation === null ? spares.requestSpares(claimant) : null;
    const from = isSpare ? reservation : null;
    const number = isSpare || reservation === null ? numbers(wanted === null ? 1 : 2) : reservation;
    reservation = number;
    isSpare = false;
    let granted: GrantedSpares | null = null;
    try {
      // What it has given back may be what this one needs.
      settlements.flush();
      const question = { reservation: number, from, request, ...path, ...most, spares: wanted?.count ?? 0 };
      const answer = await owner.ask('reserve', question);
      granted = { ...answer, hasRoom: answer.refusal === null, reservation: number + 1 };
      rates = answer.rates;
      reservedUsage = answer.refusal === null ? most : null;
      return answer.refusal;
    } finally {
      if (wanted !== null) spares.addSpares(claimant, wanted, granted);
    }
  };
  /** Has more reserved for requests to come, before there is none for one of them. */
  const askAhead = async (claimant: Claimant, wanted: PendingSpares): Promise<void> => {
    const { count, most } = wanted;
    const number = numbers(1);
    let granted: GrantedSpares | null = null;
    try {
      settlements.flush();
      const question = { reservation: number, request, ...claimant.path, ...most, spares: count };
      granted = { ...(await owner.ask('reserveAhead', question)), hasRoom: true, reservation: number };
    } finally {
      spares.addSparesAhead(claimant, wanted, granted);
    }
  };
  const takeSpare = (claimant: Claimant): boolean => {
    const spare = spares.take(claimant);
    if (spare === null) return false;
    ({ reservedUsage, rates, reservation } = spare);
    isSpare = true;
    const wanted = spares.requestSparesAhead(claimant);
    // A request that finds none asks itself, and fails if the owner is gone.
    if (wanted !== null) askAhead(claimant, wanted).catch(() => {});
    return true;
  };
  /** @param waits how many answers to others it may still wait for */
  const enter = (claimant: Claimant, waits: number): null | Promise<Refusal | null> => {
    // It may have ended meanwhile.
    if (closed || takeSpare(claimant)) return null;
    const coming = waits === 0 ? null : spares.pendingAnswer(claimant);
    return coming === null
      ? ask(claimant)
      : coming.then((hasRoom) => enter(claimant, hasRoom ? waits - 1 : 0));
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
      return enter(claimant, MAX_WAITS);
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
