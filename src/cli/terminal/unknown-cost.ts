import { costUnknownReason } from '../../ledger/entry-row.ts';
import type { LedgerEntry } from '../../ledger/schema.ts';

/** That the cost of a request is not known, and what is missing, in words for a person. */
export function unknownCost(entry: LedgerEntry): string {
  switch (costUnknownReason(entry)) {
    case 'no_tier_price':
      return `cost unknown: no price of the tier ${entry.servedTier ?? ''}`;
    case 'no_unit_price':
      return 'cost unknown: no price of something that it used';
    case 'no_price':
    case null:
      return 'cost unknown';
  }
}
