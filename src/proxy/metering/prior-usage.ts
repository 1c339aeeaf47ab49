import { addUsage, noUsage } from '../../codecs/wire-format.ts';
import type { Call, CallEnd, Priced, PriorUsage } from '../dispatch/call.ts';

/** What a call has used when the target under way has used this, at that target's price. */
export function totalUsage(
  call: Pick<Call, 'price' | 'priorUsage'>,
  used: Pick<CallEnd, 'usage' | 'estimated'>,
): PriorUsage {
  const { price, priorUsage } = call;
  const usage = used.usage ?? noUsage;
  const own: Priced = used.usage === null ? { usd: 0, saved: 0, source: null } : price(usage);
  if (priorUsage === null) return { ...own, usage, estimated: used.estimated };
  return {
    usage: addUsage(priorUsage.usage, usage),
    estimated: priorUsage.estimated || used.estimated,
    usd: own.usd === null || priorUsage.usd === null ? null : own.usd + priorUsage.usd,
    saved: own.saved === null || priorUsage.saved === null ? null : own.saved + priorUsage.saved,
    source: own.source ?? priorUsage.source,
  };
}
