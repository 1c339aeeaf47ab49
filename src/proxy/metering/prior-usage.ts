import { addUsage, noUsage } from '../../codecs/wire-format.ts';
import type { Target } from '../../combos/target.ts';
import type { RequestFacts } from '../request/facts.ts';
import type { Priced, PriorUsage, Used } from '../request/use.ts';

/** What a request has used when a target has used this, at that target's price, and others `prior` before. */
export function totalUsage(
  price: RequestFacts['price'],
  target: Pick<Target, 'provider' | 'model'>,
  used: Used,
  prior: PriorUsage | null,
): PriorUsage {
  const usage = used.usage ?? noUsage;
  const own: Priced =
    used.usage === null ? { usd: 0, saved: 0, source: null } : price(target, { usage, tier: used.tier });
  if (prior === null) return { ...priced(own), usage, estimated: used.estimated };
  return {
    usage: addUsage(prior.usage, usage),
    estimated: prior.estimated || used.estimated,
    usd: own.usd === null || prior.usd === null ? null : own.usd + prior.usd,
    saved: own.saved === null || prior.saved === null ? null : own.saved + prior.saved,
    source: own.source ?? prior.source,
  };
}

function priced({ saved, source, usd }: Priced): Priced {
  return { usd, saved, source };
}
