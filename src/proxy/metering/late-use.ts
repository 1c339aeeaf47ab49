import type { Limits } from '../../budgets/limits.ts';
import type { Usage } from '../../codecs/wire-format.ts';
import type { Target } from '../../combos/routing/resolve.ts';
import { inputTokens, outputTokens } from '../../ledger/buckets.ts';
import type { LateUse } from '../../ledger/late-use.ts';
import type { LedgerEntry } from '../../ledger/schema.ts';
import type { Snapshot } from '../../snapshot.ts';
import type { LateAnswer } from '../request/answer-usage.ts';
import { finishFields } from './finish-reason.ts';
import { priceOf } from './price.ts';

/** Where late use is counted. */
export interface LateUseContext {
  readonly limits: Pick<Limits, 'countMore'>;
  snapshot(): Pick<Snapshot, 'catalog'>;
  /** Puts what a recorded request really used in the place of an estimate, once; null where none waits for that. */
  replaceEstimate(id: string, useOf: (entry: LedgerEntry) => LateUse): Promise<LedgerEntry | null>;
}

/**
 * Counts what a response used that was made in the background, which its provider reports only where it is read: in the
 * ledger, at the request that made it, and in its budgets. What was counted before is not counted again.
 * @param route where the response is kept
 */
export async function countLateUse(
  { limits, replaceEstimate, snapshot }: LateUseContext,
  requestId: string,
  route: Target,
  { finishReason, tier, usage }: LateAnswer,
): Promise<void> {
  const { catalog } = snapshot();
  let usd: number | null = null;
  const recorded = await replaceEstimate(requestId, ({ model, startedAt }) => {
    const price = priceOf(catalog, { ...route, model: model ?? route.model }, { tier, usage }, startedAt);
    usd = price.usd;
    return {
      usage,
      servedTier: tier,
      ...finishFields(finishReason),
      costUsd: price.usd,
      priceSource: price.source,
      cacheSavingsUsd: price.saved,
    };
  });
  if (recorded === null || recorded.keyId === null) return;
  const { comboId, connectionId, innerComboIds, keyId, startedAt, tags } = recorded;
  const chargeScope = connectionId === null ? null : { connectionId, innerCombos: innerComboIds };
  limits.countMore({ keyId, comboId, tags }, chargeScope, startedAt, {
    tokens: tokensOf(usage) - (recorded.usage === null ? 0 : tokensOf(recorded.usage)),
    usd: usd === null ? null : usd - (recorded.costUsd ?? 0),
  });
}

function tokensOf(usage: Usage): number {
  return inputTokens(usage) + outputTokens(usage);
}
