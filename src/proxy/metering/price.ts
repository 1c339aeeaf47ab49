import type { Catalog } from '../../catalog/catalog.ts';
import { cacheSavings, costOf } from '../../catalog/cost.ts';
import type { Usage } from '../../codecs/wire-format.ts';
import type { Target } from '../../combos/target.ts';
import type { AnswerCost, TieredUsage } from '../request/answer-usage.ts';
import type { RequestFacts } from '../request/facts.ts';

const noCost: AnswerCost = { usd: null, saved: null, source: null };

/** What the usage costs, by the price that is valid at the time `at`. Null for each value that is unknown. */
export function priceOf(
  catalog: Catalog,
  target: Pick<Target, 'provider' | 'model'>,
  { tier, usage }: TieredUsage,
  at: number,
): AnswerCost {
  const price = usage === null ? null : catalog.priceOf(target.provider, target.model, at, tier);
  if (usage === null || price === null) return noCost;
  return { usd: costOf(price, usage), saved: cacheSavings(price, usage), source: price.source };
}

/**
 * Prices usage as of one time. The last result is kept, because the answer's header and the ledger ask for the same one.
 * @param at milliseconds since the epoch
 */
export function pricesAt(catalog: Catalog, at: number): RequestFacts['price'] {
  let last: (AnswerCost & { target: object; usage: Usage | null; tier: string | null }) | null = null;
  return (target, { tier, usage }) => {
    if (last?.usage !== usage || last.tier !== tier || last.target !== target)
      last = { target, usage, tier, ...priceOf(catalog, target, { usage, tier }, at) };
    return last;
  };
}
