import { type Counter, fits, reserveIn } from './counter.ts';

/** An amount that one counter holds, in one of its buckets. */
export interface Claim {
  counter: Counter;
  bucket: number;
  amount: number;
}

/** Why not all claims are held: there is no room for one, or it is unknown now whether there is. */
export interface ClaimRefusal {
  claim: Claim;
  kind: 'full' | 'unavailable';
}

/** Limits that several gateways have in common. */
export interface SharedClaims {
  /** Holds all claims, or none of them. Null: they are held. The answer is there at once where no other gateway has to be asked. */
  reserve(claims: readonly Claim[]): ClaimRefusal | null | Promise<ClaimRefusal | null>;
  /** Says that what a counter has used or set aside has changed. */
  changed(counter: Counter): void;
}

/** Holds all claims by what is counted here and known of others, or none of them. */
export function reserveHere(claims: readonly Claim[], at: number): ClaimRefusal | null {
  const claim = claims.find(({ amount, counter }) => !fits(counter, amount, at));
  if (claim !== undefined) return { claim, kind: 'full' };
  reserveAll(claims);
  return null;
}

export function reserveAll(claims: readonly Claim[]): void {
  for (const { amount, bucket, counter } of claims) reserveIn(counter, bucket, amount);
}
