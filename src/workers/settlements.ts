import { addRequests, type EndedRequests, noRequests, type RequestUsage } from '../budgets/ended-requests.ts';
import type { WorkerEvent } from './message.ts';

/** Ends of requests that budgets concern, added up by their reservations until somebody has to know them. */
export interface Settlements {
  /** @param isMore whether it used more than was set aside: then all are told at once */
  add(reservation: number, used: RequestUsage | null, isMore: boolean): void;
  /** Gives back what was reserved for so many requests that did not come. */
  giveBack(reservation: number, count: number): void;
  /** Tells what is gathered. */
  flush(): void;
}

/** For how long what is given back may wait: who finds no room asks for it. */
const GATHER_MS = 50;
/** Numbers for each reservation: its own, and those of what has ended. */
const WIDTH = 6;
/** As many reservations as wait at most. */
const MAX_COUNT = 1_000;

export function createSettlements(tell: (event: WorkerEvent) => void): Settlements {
  let sums = new Map<number, EndedRequests>();
  let timer: NodeJS.Timeout | null = null;
  const tellAll = (isMore: boolean): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (sums.size === 0) return;
    const settlements = new Float64Array(sums.size * WIDTH);
    let index = 0;
    for (const [reservation, { charged, count, nanoUsd, tokens, unpriced }] of sums) {
      settlements.set([reservation, count, charged, tokens, nanoUsd, unpriced], index);
      index += WIDTH;
    }
    sums = new Map();
    tell({ kind: 'settled', settlements, isMore });
  };
  const flush = (): void => tellAll(false);
  const add = (reservation: number, used: RequestUsage | null, count: number, isMore: boolean): void => {
    let sum = sums.get(reservation);
    if (sum === undefined) {
      sum = noRequests();
      sums.set(reservation, sum);
    }
    addRequests(sum, used, count);
    if (isMore || sums.size >= MAX_COUNT) tellAll(isMore);
    else timer ??= setTimeout(flush, GATHER_MS).unref();
  };
  return {
    flush,
    add: (reservation, used, isMore) => add(reservation, used, 1, isMore),
    giveBack: (reservation, count) => add(reservation, null, count, false),
  };
}

/** Calls `settle` with each of them. */
export function eachSettlement(
  settlements: Float64Array,
  settle: (reservation: number, ended: EndedRequests) => void,
): void {
  for (let index = 0; index < settlements.length; index += WIDTH) {
    const [reservation = 0, count = 0, charged = 0, tokens = 0, nanoUsd = 0, unpriced = 0] =
      settlements.subarray(index, index + WIDTH);
    settle(reservation, { count, charged, tokens, nanoUsd, unpriced });
  }
}
