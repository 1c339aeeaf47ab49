import { noUsage, type Usage } from '../codecs/model.ts';
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
    usage: added(spent.usage, usage),
    estimated: spent.estimated || used.estimated,
    usd: own.usd === null || spent.usd === null ? null : own.usd + spent.usd,
    source: own.source ?? spent.source,
  };
}

/** The sum of two uses. */
export function added(one: Usage, other: Usage): Usage {
  const sum = { ...one };
  for (const member of Object.keys(sum) as (keyof Usage)[]) sum[member] += other[member];
  return sum;
}
