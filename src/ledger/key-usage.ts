import type { Store } from '../store/database.ts';
import type { Grouping } from './groupings.ts';
import type { UsageRow } from './schema.ts';
import { slicedSums } from './sliced-sums.ts';
import type { Sums } from './sums.ts';
import { type UsageRowsQuery, usageRows } from './usage.ts';

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

/** Times are milliseconds since the epoch. */
export type KeyUsageQuery = Required<Pick<UsageRowsQuery, 'by' | 'since' | 'before' | 'timeZone'>>;

/** What one key has used by some groupings, one row for each group. */
export async function keyUsageBy(
  store: Pick<Store, 'db'>,
  keyId: string,
  { before, by, since, timeZone }: KeyUsageQuery,
): Promise<KeyUsageGroup[]> {
  const query = { by, since, before, timeZone, only: { key_id: keyId } };
  const rows = await usageRows(store, query, before);
  return rows.map((row) => ({
    ...Object.fromEntries(by.flatMap((grouping) => namesIn(row, grouping))),
    requests: row.requests,
    failed: row.failed,
    input_tokens: row.input_tokens,
    output_tokens: row.output_tokens,
    cost_usd: row.cost_usd,
    unpriced: row.unpriced,
  }));
}

/** A group under the names of its groupings: `day`, `provider` and `model`, `tag`, `label:app`. */
export type KeyUsageGroup = Amounts & Readonly<Record<string, string | number | null>>;

function namesIn(row: UsageRow, grouping: Grouping): [string, string | null][] {
  switch (grouping) {
    case 'hour':
    case 'day':
    case 'week':
    case 'month':
      return [[grouping, row.period]];
    case 'model':
      return [
        ['provider', row.provider],
        ['model', row.model],
      ];
    case 'provider':
    case 'connection':
    case 'combo':
    case 'owner':
    case 'team':
    case 'tag':
    case 'format':
    case 'outcome':
    case 'tier':
    case 'session':
      return [[grouping, row[grouping]]];
    case 'key':
      return [['key', row.key_name]];
    default:
      return [[grouping, row.labels[grouping.slice('label:'.length)] ?? null]];
  }
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
