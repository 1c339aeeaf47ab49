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
import {
  type Claimant,
  createSpareReservations,
  type Granted,
  type SpareReservations,
} from './spare-reservations.ts';

/** The budgets and limits as a worker sees them: the owner counts, the worker knows which requests concern any. */
export interface RemoteLimits extends Pick<Limits, 'hold' | 'isPriced'> {
  /** Reads which budgets there are. */
  reload(): Promise<void>;
  /** Gives back what is reserved for requests to come. */
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
  const own: OwnLimit = {
    owner,
    spares,
    metricsOf: (asked, path) => new Set(index.applying(asked, path).map(({ budget }) => budget.metric)),
    numbers(count) {
      const first = last + 1;
      last += count;
      return first;
    },
  };
  return {
    giveBack: spares.giveBack,
    hold: (asked) => (index.mayConcern(asked) ? remoteReservation(own, asked) : null),
    isPriced: (asked) => index.isPriced(asked),
    async reload() {
      index = await load();
      // Other budgets may concern the next request.
      spares.giveBack();
    },
  };
}

interface OwnLimit {
  owner: RemoteLimitsInput['owner'];
  spares: SpareReservations;
  /** What the budgets of a request count. */
  metricsOf(asked: ChargedRequest, path: ChargePath): Set<BudgetMetric>;
  /** Draws so many numbers of reservations. @returns the first */
  numbers(count: number): number;
}

function remoteReservation(
  { metricsOf, numbers, owner, spares }: OwnLimit,
  asked: ChargedRequest,
): BudgetReservation {
  let rates: readonly RemainingLimit[] = [];
  let reservation: number | null = null;
  let held: RequestUsage | null = null;
  /** What the budgets count that it asked last. */
  let metrics: ReadonlySet<BudgetMetric> = new Set();
  let closed = false;
  const ask = async (claimant: Claimant): Promise<Refusal | null> => {
    const { most, path } = claimant;
    // One that moves to another target keeps its number, behind which there is no room for others.
    const wanted = reservation === null ? spares.wanted(claimant) : 0;
    const number = reservation ?? numbers(1 + wanted);
    reservation = number;
    let granted: Granted | null = null;
    try {
      const question = { reservation: number, asked, ...path, ...most, spares: wanted };
      const answer = await owner.ask('reserve', question);
      granted = { ...answer, reservation: number };
      rates = answer.rates;
      held = answer.refusal === null ? most : null;
      return answer.refusal;
    } finally {
      if (wanted > 0) spares.put(claimant, granted);
    }
  };
  return {
    rates: () => rates,
    reserve({ connectionId, innerCombos, tokens, usd }: ChargeScope) {
      const path = { connectionId, innerCombos };
      const most = { tokens: tokens(), usd: usd() };
      metrics = metricsOf(asked, path);
      const claimant = { asked, path, most, metrics };
      const spare = reservation === null ? spares.take(claimant) : null;
      if (spare === null) return ask(claimant);
      ({ held, rates, reservation } = spare);
      return null;
    },
    settle(used) {
      if (closed) return;
      closed = true;
      if (reservation === null) return;
      owner.tell({ kind: 'settled', reservation, used, isMore: isMore(used, held, metrics) });
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
