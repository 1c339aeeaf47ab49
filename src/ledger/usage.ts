import type { Store } from '../store/database.ts';
import type { Grouping, UsageRow } from './schema.ts';
import { slicedSums } from './sliced-sums.ts';
import { periodMs, type Sums, type SumsQuery } from './sums.ts';

/**
 * What was used and what it cost, one row for each group that there is.
 * @param now the end of what is summed up where the query names none, in milliseconds since the epoch
 */
export async function usageRows(
  store: Pick<Store, 'db'>,
  query: SumsQuery,
  now: number,
): Promise<UsageRow[]> {
  const sums = await slicedSums(store, query);
  const names = await namesIn(store, query);
  return sums.map((one) => rowOf(one, query, query.before ?? now, names));
}

/** What keys and combos are called now, by id. */
interface Names {
  keys: ReadonlyMap<string | null, string>;
  combos: ReadonlyMap<string | null, string>;
}

async function namesIn({ db }: Pick<Store, 'db'>, { by, only = {} }: SumsQuery): Promise<Names> {
  const ofKeys = by.includes('key') || only.key_id !== undefined;
  const ofCombos = by.includes('combo') || only.combo_id !== undefined;
  const keys = ofKeys ? await db.selectFrom('keys').select(['id', 'name']).execute() : [];
  const combos = ofCombos ? await db.selectFrom('combos').select(['id', 'name']).execute() : [];
  return {
    keys: new Map(keys.map(({ id, name }) => [id, name])),
    combos: new Map(combos.map(({ id, name }) => [id, name])),
  };
}

function rowOf(sums: Sums, query: SumsQuery, end: number, names: Names): UsageRow {
  const { by, only = {}, since } = query;
  const ms = periodMs(by);
  const start = ms === null || sums.period === null ? since : sums.period * ms;
  const stop = ms === null ? end : Math.min(start + ms, query.before ?? Number.POSITIVE_INFINITY);
  const { dimensions } = sums;
  const keyId = dimensions.key_id ?? only.key_id ?? null;
  const comboId = dimensions.combo_id ?? only.combo_id ?? null;
  return {
    id: `${by}:${by.map((one) => labelOf(one, start, sums)).join('|')}`,
    by: by.join(','),
    from: new Date(Math.max(start, since)).toISOString(),
    to: new Date(stop).toISOString(),
    provider: dimensions.provider ?? only.provider ?? null,
    model: dimensions.model ?? only.model ?? null,
    connection: dimensions.connection ?? only.connection ?? null,
    key_id: keyId,
    key_name: names.keys.get(keyId) ?? null,
    combo_id: comboId,
    combo: names.combos.get(comboId) ?? null,
    requests: sums.requests,
    failed: sums.failed,
    aborted: sums.aborted,
    estimated: sums.estimated,
    unpriced: sums.unpriced,
    unpriced_tokens: sums.unpricedTokens,
    cost_usd: sums.costUsd,
    cache_savings_usd: sums.cacheSavingsUsd,
    input_tokens: sums.inputTokens,
    output_tokens: sums.outputTokens,
    usage: sums.usage,
    mean_duration_ms: Math.round(sums.durationMs / Math.max(sums.requests, 1)),
    mean_ttft_ms: sums.ttftCount === 0 ? null : Math.round(sums.ttftMs / sums.ttftCount),
  };
}

function labelOf(by: Grouping, start: number, { dimensions }: Sums): string {
  switch (by) {
    case 'hour':
      return new Date(start).toISOString().slice(0, 13);
    case 'day':
      return new Date(start).toISOString().slice(0, 10);
    case 'provider':
      return dimensions.provider ?? '-';
    case 'model':
      return `${dimensions.provider ?? '-'}/${dimensions.model ?? '-'}`;
    case 'connection':
      return dimensions.connection ?? '-';
    case 'key':
      return dimensions.key_id ?? '-';
    case 'combo':
      return dimensions.combo_id ?? '-';
  }
}
