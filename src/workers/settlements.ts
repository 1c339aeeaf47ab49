import type { RequestUsage } from '../budgets/reservation.ts';
import type { WorkerEvent } from './message.ts';

/** Ends of requests that budgets concern, gathered until somebody has to know them. */
export interface Settlements {
  /** @param isMore whether it used more than was set aside: then all are told at once */
  add(reservation: number, used: RequestUsage | null, isMore: boolean): void;
  /** Tells what is gathered. */
  flush(): void;
}

/** For how long what is given back may wait: who finds no room asks for it. */
const GATHER_MS = 20;
/** Numbers for each: that of the reservation, tokens and USD. What is not known is no number. */
const WIDTH = 3;
/** As many as wait at most. */
const MAX_COUNT = 1_000;

export function createSettlements(tell: (event: WorkerEvent) => void): Settlements {
  let numbers: number[] = [];
  let timer: NodeJS.Timeout | null = null;
  const tellAll = (isMore: boolean): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (numbers.length === 0) return;
    const settlements = Float64Array.from(numbers);
    numbers = [];
    tell({ kind: 'settled', settlements, isMore });
  };
  const flush = (): void => tellAll(false);
  return {
    flush,
    add(reservation, used, isMore) {
      numbers.push(reservation, used?.tokens ?? Number.NaN, used?.usd ?? Number.NaN);
      if (isMore || numbers.length >= WIDTH * MAX_COUNT) tellAll(isMore);
      else timer ??= setTimeout(flush, GATHER_MS).unref();
    },
  };
}

/** Calls `settle` with each of them, in their order; `used` is null where all that was set aside is given back. */
export function eachSettlement(
  settlements: Float64Array,
  settle: (reservation: number, used: RequestUsage | null) => void,
): void {
  for (let index = 0; index < settlements.length; index += WIDTH) {
    const reservation = settlements[index] ?? 0;
    const tokens = settlements[index + 1] ?? Number.NaN;
    const usd = settlements[index + 2] ?? Number.NaN;
    const used = Number.isNaN(tokens) ? null : { tokens, usd: Number.isNaN(usd) ? null : usd };
    settle(reservation, used);
  }
}
