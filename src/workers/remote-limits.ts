import { indexOf } from '../budgets/budget-index.ts';
import { createCounter } from '../budgets/counter.ts';
import type { Limits } from '../budgets/limits.ts';
import type { RemainingLimit } from '../budgets/rate-headers.ts';
import type { BudgetReservation, ChargedRequest, ChargeScope, RequestUsage } from '../budgets/reservation.ts';
import type { BudgetRecord } from '../budgets/schema.ts';
import type { Channel } from './channel.ts';
import type { OwnerQuestions, WorkerEvent } from './message.ts';

/** The budgets and limits as a worker sees them: the owner counts, the worker knows which requests concern any. */
export interface RemoteLimits extends Pick<Limits, 'hold' | 'isPriced'> {
  /** Reads which budgets there are. */
  reload(): Promise<void>;
}

export interface RemoteLimitsInput {
  owner: Pick<Channel<WorkerEvent, OwnerQuestions>, 'ask' | 'tell'>;
  budgets: { list(): Promise<readonly BudgetRecord[]> };
}

/** A request that no budget concerns is let in without asking the owner. */
export async function openRemoteLimits({ budgets, owner }: RemoteLimitsInput): Promise<RemoteLimits> {
  // Counters that count nothing: only what they are about is looked at.
  const load = async () => indexOf((await budgets.list()).map(createCounter));
  let index = await load();
  let last = 0;
  return {
    hold(asked) {
      if (!index.mayConcern(asked)) return null;
      last += 1;
      return remoteReservation(owner, last, asked);
    },
    isPriced: (asked) => index.isPriced(asked),
    async reload() {
      index = await load();
    },
  };
}

function remoteReservation(
  owner: RemoteLimitsInput['owner'],
  reservation: number,
  asked: ChargedRequest,
): BudgetReservation {
  let rates: readonly RemainingLimit[] = [];
  let held: RequestUsage | null = null;
  let closed = false;
  return {
    rates: () => rates,
    async reserve({ connectionId, innerCombos, tokens, usd }: ChargeScope) {
      const place = { connectionId, innerCombos, tokens: tokens(), usd: usd() };
      const answer = await owner.ask('reserve', { reservation, asked, ...place });
      rates = answer.rates;
      held = answer.refusal === null ? place : null;
      return answer.refusal;
    },
    settle(used) {
      if (closed) return;
      closed = true;
      owner.tell({ kind: 'settled', reservation, used, isMore: isMore(used, held) });
    },
  };
}

/** What is given back may wait: who finds no room asks for it. */
function isMore(used: RequestUsage | null, held: RequestUsage | null): boolean {
  if (used === null) return false;
  return held === null || used.tokens > held.tokens || (used.usd ?? 0) > (held.usd ?? 0);
}
