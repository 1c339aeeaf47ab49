import { addUsage, noUsage } from '../../codecs/wire-format.ts';
import type { Target } from '../../combos/target.ts';
import type { AnswerCost, AnswerUsage, PriorUsage } from '../request/answer-usage.ts';
import type { RequestFacts } from '../request/facts.ts';

/** What a request has used when a target has used this, at that target's price, and others `prior` before. */
export function totalUsage(
  price: RequestFacts['price'],
  target: Pick<Target, 'provider' | 'model'>,
  answerUsage: AnswerUsage,
  prior: PriorUsage | null,
): PriorUsage {
  const usage = answerUsage.usage ?? noUsage;
  const own: AnswerCost =
    answerUsage.usage === null
      ? { usd: 0, saved: 0, source: null }
      : price(target, { usage, tier: answerUsage.tier });
  if (prior === null) return { ...costOnly(own), usage, estimated: answerUsage.estimated };
  return {
    usage: addUsage(prior.usage, usage),
    estimated: prior.estimated || answerUsage.estimated,
    usd: own.usd === null || prior.usd === null ? null : own.usd + prior.usd,
    saved: own.saved === null || prior.saved === null ? null : own.saved + prior.saved,
    source: own.source ?? prior.source,
  };
}

function costOnly({ saved, source, usd }: AnswerCost): AnswerCost {
  return { usd, saved, source };
}
