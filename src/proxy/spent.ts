import { addUsage, noUsage } from '../codecs/model.ts';
import type { Call, CallEnd, Priced, Spent } from './call.ts';

/** What a call has used when the target under way has used this, at that target's price. */
export function spentWith(
  call: Pick<Call, 'price' | 'spent'>,
  used: Pick<CallEnd, 'usage' | 'estimated'>,
): Spent {
  const { price, spent } = call;
  const usage = used.usage ?? noUsage;
  const own: Priced = used.usage === null ? { usd: 0, source: null } : price(usage);
  if (spent === null) return { ...own, usage, estimated: used.estimated };
  return {
    usage: addUsage(spent.usage, usage),
    estimated: spent.estimated || used.estimated,
    usd: own.usd === null || spent.usd === null ? null : own.usd + spent.usd,
    source: own.source ?? spent.source,
  };
}
