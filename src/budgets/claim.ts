import { type Counter, fits, remainingAt, reserveIn } from './counter.ts';

/** An amount that is reserved in one counter, in one of its buckets (a part of its window). */
export interface Claim {
  counter: Counter;
  bucket: number;
  amount: number;
}

/** Why nothing was reserved: there is no room for one claim, or nobody can tell at the moment whether there is. */
export interface ClaimRefusal {
  claim: Claim;
  kind: 'full' | 'unavailable';
}

/** Limits that several gateways have in common. */
export interface SharedClaims {
  /** Reserves all claims or none. Null: all. Returns a promise only if Redis has to be asked. */
  reserve(claims: readonly Claim[]): ClaimRefusal | null | Promise<ClaimRefusal | null>;
  /** Says that what a counter has used or set aside has changed. */
  onChange(counter: Counter): void;
}

/** Reserves all claims or none, by what this gateway has counted and knows of others. */
export function reserveHere(claims: readonly Claim[], at: number): ClaimRefusal | null {
  const claim = claims.find(({ amount, counter }) => !fits(counter, amount, at));
  if (claim !== undefined) return { claim, kind: 'full' };
  reserveAll(claims);
  return null;
}

/**
 * Reserves all claims up to so many times, as often as there is room by what this gateway has counted.
 * @returns how often
 */
export function reserveRepeatedly(claims: readonly Claim[], times: number, at: number): number {
  const room = claims.map(({ amount, counter }) =>
    amount === 0 ? Infinity : Math.floor(remainingAt(counter, at) / amount),
  );
  const reserved = Math.max(0, Math.min(times, ...room));
  if (reserved > 0)
    for (const { amount, bucket, counter } of claims) reserveIn(counter, bucket, reserved * amount);
  return reserved;
}

export function reserveAll(claims: readonly Claim[]): void {
  for (const { amount, bucket, counter } of claims) reserveIn(counter, bucket, amount);
}
