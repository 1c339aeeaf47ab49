import type { Counter } from './counter.ts';

/** An amount that one counter holds, in one of its buckets. */
export interface Claim {
  counter: Counter;
  bucket: number;
  amount: number;
}

/** An amount that one counter counts as used. */
export interface Spending extends Claim {
  unpriced: number;
}

/** Limits that several gateways have in common. */
export interface Shared {
  /**
   * Gives `previous` back and holds `claims`, if all of them fit. Null when there is nobody to ask now; a claim that
   * does not fit, null when all do, or `gone` when no answer came in time.
   */
  claim(
    previous: readonly Claim[],
    claims: readonly Claim[],
    at: number,
  ): Promise<Claim | null | 'gone'> | null;
  /** Gives back what was held and counts what was used, now or as soon as there is somebody to tell. */
  settle(released: readonly Claim[], spent: readonly Spending[]): void;
  /** Forgets what a budget has counted, for all. */
  clear(counter: Counter): void;
}
