import type { Store } from '../store/database.ts';
import { slicedSums } from './sliced-sums.ts';
import type { Sums } from './sums.ts';

/** What one key has used since a time. Amounts in tokens and USD. */
export interface KeyUsage extends Amounts {
  /** The dearest first. */
  models: readonly (Amounts & { provider: string | null; model: string | null })[];
}

interface Amounts {
  requests: number;
  failed: number;
  input_tokens: number;
  output_tokens: number;
  /** What is known of the cost; null when there were requests and none has a known cost. */
  cost_usd: number | null;
  /** Requests whose cost is not known. */
  unpriced: number;
}

/** @param since milliseconds since the epoch */
export async function usageOfKey(store: Pick<Store, 'db'>, keyId: string, since: number): Promise<KeyUsage> {
  const only = { key_id: keyId };
  const [whole] = await slicedSums(store, { by: [], since, only });
  const models = await slicedSums(store, { by: ['provider', 'model'], since, only });
  return {
    ...amountsOf(whole),
    models: models
      .toSorted((one, other) => (other.costUsd ?? 0) - (one.costUsd ?? 0))
      .map((sums) => ({
        provider: sums.dimensions.provider ?? null,
        model: sums.dimensions.model ?? null,
        ...amountsOf(sums),
      })),
  };
}

function amountsOf(sums: Sums | undefined): Amounts {
  return {
    requests: sums?.requests ?? 0,
    failed: sums?.failed ?? 0,
    input_tokens: sums?.inputTokens ?? 0,
    output_tokens: sums?.outputTokens ?? 0,
    cost_usd: sums === undefined ? 0 : sums.costUsd,
    unpriced: sums?.unpriced ?? 0,
  };
}
