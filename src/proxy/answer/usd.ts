import { plainDecimal } from '../../lib/trailing.ts';

/** Plain decimal USD, never in exponent form. */
export function formatUsd(usd: number): string {
  return plainDecimal(usd, 10);
}
