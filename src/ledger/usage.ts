import type { Grouping, LabelGrouping } from './groupings.ts';
import { allSums } from './kept-sums/read.ts';
import { type Names, namesOf } from './names.ts';
import type { UsageRow } from './schema.ts';
import type { LedgerReader } from './sliced-sums.ts';
import type { Dimension, SumsQuery } from './sums.ts';
import { type TimeBuckets, timeBuckets, timeGroupingIn } from './time-buckets.ts';
import { type RankedSums, topGroups } from './top.ts';
import { topKeys } from './top-keys.ts';

export interface UsageRowsQuery extends SumsQuery {
  /** How many groups are told one by one, those that cost most; the rest is one row together. Null, the default: all. */
  top?: number | null;
}

/**
 * What was used and what it cost, one row for each group that there is.
 * @param now the end of what is summed up where the query names none, in milliseconds since the epoch
 */
export async function usageRows(
  store: LedgerReader,
  query: UsageRowsQuery,
  now: number,
): Promise<UsageRow[]> {
  const { by, timeZone, top = null } = query;
  const kind = timeGroupingIn(by);
  const sums =
    (top === null ? null : await topKeys(store, query, top, now)) ??
    topGroups(await allSums(store, query), by, top);
  const idsOf = (dimension: 'key_id' | 'combo_id') =>
    sums.map(({ dimensions }) => dimensions[dimension] ?? query.only?.[dimension] ?? null);
  const context: RowContext = {
    query,
    end: query.before ?? now,
    buckets: kind === null ? null : timeBuckets(kind, timeZone),
    keys: await namesOf(store, 'keys', idsOf('key_id')),
    combos: await namesOf(store, 'combos', idsOf('combo_id')),
  };
  return sums.map((one) => rowOf(one, context));
}

interface RowContext {
  query: UsageRowsQuery;
  /** Milliseconds since the epoch. */
  end: number;
  buckets: TimeBuckets | null;
  keys: Names;
  combos: Names;
}

function rowOf(sums: RankedSums, { buckets, combos, end, keys, query }: RowContext): UsageRow {
  const { before = Number.POSITIVE_INFINITY, by, only = {}, since } = query;
  const { dimensions, period } = sums;
  const start = period ?? since;
  const stop = buckets === null || period === null ? end : Math.min(buckets.endOf(period), before);
  const of = (dimension: Dimension) => dimensions[dimension] ?? only[dimension] ?? null;
  const [keyId, comboId] = [of('key_id'), of('combo_id')];
  return {
    id: idOf(sums, by, buckets),
    by: by.join(','),
    period: buckets === null || period === null ? null : buckets.labelOf(period),
    from: new Date(Math.max(start, since)).toISOString(),
    to: new Date(stop).toISOString(),
    provider: of('provider'),
    model: of('model'),
    connection: of('connection'),
    key_id: keyId,
    key_name: keys.get(keyId) ?? null,
    combo_id: comboId,
    combo: combos.get(comboId) ?? null,
    owner: of('owner'),
    team: of('team'),
    tag: of('tag'),
    labels: Object.fromEntries(by.filter(isLabel).map((one) => [one.slice('label:'.length), of(one)])),
    format: of('format'),
    outcome: of('outcome'),
    tier: of('tier'),
    session: of('session'),
    rest_groups: sums.restGroups,
    requests: sums.requests,
    failed: sums.failed,
    aborted: sums.aborted,
    estimated: sums.estimated,
    unpriced: sums.unpriced,
    unpriced_tokens: sums.unpricedTokens,
    cost_usd: sums.costUsd,
    billed_usd: sums.billedUsd,
    plan_usd: sums.planUsd,
    routing_savings_usd: sums.routingSavingsUsd,
    cache_savings_usd: sums.cacheSavingsUsd,
    input_tokens: sums.inputTokens,
    output_tokens: sums.outputTokens,
    usage: sums.usage,
    mean_duration_ms: Math.round(sums.durationMs / Math.max(sums.requests, 1)),
    mean_ttft_ms: sums.ttftCount === 0 ? null : Math.round(sums.ttftMs / sums.ttftCount),
  };
}

function isLabel(grouping: Grouping): grouping is LabelGrouping {
  return grouping.startsWith('label:');
}

/** `day,key:2026-11-21|key_1` */
function idOf(sums: RankedSums, by: readonly Grouping[], buckets: TimeBuckets | null): string {
  const kind = timeGroupingIn(by);
  const label = (grouping: Grouping): string => {
    if (grouping === kind)
      return buckets === null || sums.period === null ? '-' : buckets.labelOf(sums.period);
    return sums.restGroups > 0 ? REST : nameOf(grouping, sums);
  };
  return `${by.length === 0 ? TOTAL : by}:${by.map(label).join('|')}`;
}

/** What the rest of the groups is called in an id. */
const REST = '*';

/** What the grouping is called that puts everything into one row. */
export const TOTAL = 'total';

function nameOf(grouping: Grouping, { dimensions }: RankedSums): string {
  switch (grouping) {
    case 'model':
      return `${dimensions.provider ?? '-'}/${dimensions.model ?? '-'}`;
    case 'key':
      return dimensions.key_id ?? '-';
    case 'combo':
      return dimensions.combo_id ?? '-';
    case 'hour':
    case 'day':
    case 'week':
    case 'month':
      return '-';
    default:
      return dimensions[grouping] ?? '-';
  }
}
