import { NANO } from './counter.ts';

/** What a request has used in the end. */
export interface RequestUsage {
  /** Input and output tokens. */
  tokens: number;
  /** Null where no price is known, or what was used is not. */
  usd: number | null;
}

/** Requests that have ended, added up in the units in which budgets count. */
export interface EndedRequests {
  /** How many. */
  count: number;
  /** How many of them count. The others only release what was set aside for them. */
  charged: number;
  /** Input and output tokens. */
  tokens: number;
  /** In units of `NANO`, as far as it is known. */
  nanoUsd: number;
  /** Of how many it is not known. */
  unpriced: number;
}

export function noRequests(): EndedRequests {
  return { count: 0, charged: 0, tokens: 0, nanoUsd: 0, unpriced: 0 };
}

/** @param used what each of them used; null where they only release what was set aside */
export function addRequests(sum: EndedRequests, used: RequestUsage | null, count = 1): void {
  sum.count += count;
  if (used === null) return;
  sum.charged += count;
  sum.tokens += count * Math.round(used.tokens);
  if (used.usd === null) sum.unpriced += count;
  else sum.nanoUsd += count * Math.round(used.usd * NANO);
}

/** Requests that used the same. */
export function endedRequests(used: RequestUsage | null, count = 1): EndedRequests {
  const sum = noRequests();
  addRequests(sum, used, count);
  return sum;
}

/** What a single request used; null where it only releases what was set aside. */
export function usageOf({ charged, nanoUsd, tokens, unpriced }: EndedRequests): RequestUsage | null {
  return charged === 0 ? null : { tokens, usd: unpriced > 0 ? null : nanoUsd / NANO };
}
