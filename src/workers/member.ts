import { type EndedRequests, type RequestUsage, usageOf } from '../budgets/ended-requests.ts';
import type { BudgetReservation } from '../budgets/reservation.ts';
import type { WorkerLoad } from './message.ts';
import type { WorkerProcess } from './process.ts';

/** A worker as it is shown. Times in milliseconds since the epoch. */
export interface WorkerState {
  number: number;
  pid: number | null;
  state: 'starting' | 'serving' | 'ended';
  since: number;
}

/** A worker, as the process that has started it knows it. */
export interface Member {
  number: number;
  journal: string;
  process: WorkerProcess;
  state: WorkerState['state'];
  since: number;
  /** It is told of changes. */
  joined: boolean;
  /** It has told something since that was looked at last, and how often in a row it had not. */
  hasReported: boolean;
  silences: number;
  load: WorkerLoad;
  /** What its requests hold of the budgets. */
  reservations: Map<number, Reservation>;
  listening: PromiseWithResolvers<void>;
  ended: PromiseWithResolvers<void>;
}

/** What a request of a worker holds, or what was reserved in advance for several. */
export interface Reservation {
  /** How many of them have not ended. */
  open: number;
  /** Settles so many of them. */
  settle(ended: EndedRequests): void;
  /** The reservation of one of them alone, to be changed. */
  own(): BudgetReservation;
  /** What was set aside for each where it was let in last; null before. */
  reservedUsage: RequestUsage | null;
}

export function ownReservation(
  reservation: BudgetReservation,
  reservedUsage: RequestUsage | null,
): Reservation {
  return {
    open: 1,
    settle: (ended) => reservation.settle(usageOf(ended)),
    own: () => reservation,
    reservedUsage,
  };
}
