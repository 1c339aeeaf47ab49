import type { Usage } from '../../codecs/wire-format.ts';
import type { Target } from '../../combos/resolve.ts';
import { inputTokens, outputTokens } from '../../ledger/buckets.ts';
import type { ProxyContext } from '../context.ts';
import { priceOf, type Served } from './entry.ts';

/**
 * Counts what a response used that was made in the background, which its provider tells only to those who read it: in the
 * ledger, at the request that made it, and in its budgets. What was counted before is not counted again.
 * @param route where the response is kept
 */
export async function countLateUse(
  { limits, replaceEstimate, snapshot }: Pick<ProxyContext, 'limits' | 'replaceEstimate' | 'snapshot'>,
  requestId: string,
  route: Target,
  { tier, usage }: Served & { usage: Usage },
): Promise<void> {
  const { catalog } = snapshot();
  let usd: number | null = null;
  const before = await replaceEstimate(requestId, ({ model, startedAt }) => {
    const price = priceOf(catalog, { ...route, model: model ?? route.model }, { tier, usage }, startedAt);
    usd = price.usd;
    return {
      usage,
      servedTier: tier,
      costUsd: price.usd,
      priceSource: price.source,
      cacheSavingsUsd: price.saved,
    };
  });
  if (before === null || before.keyId === null) return;
  const { comboId, connectionId, innerComboIds, keyId, startedAt, tags } = before;
  const way = connectionId === null ? null : { connectionId, innerCombos: innerComboIds };
  limits.countMore({ keyId, comboId, tags }, way, startedAt, {
    tokens: tokensOf(usage) - (before.usage === null ? 0 : tokensOf(before.usage)),
    usd: usd === null ? null : usd - (before.costUsd ?? 0),
  });
}

function tokensOf(usage: Usage): number {
  return inputTokens(usage) + outputTokens(usage);
}
