import { attributesOf } from '../http/collection/attributes.ts';
import { select } from '../http/collection/select.ts';
import type { Caller, Resource } from '../http/resource.ts';
import { GatewayError } from '../lib/error.ts';
import type { Store } from '../store/database.ts';
import { type Grouping, type UsageRow, usageRow } from './schema.ts';
import { slicedSums } from './sliced-sums.ts';
import { periodMs, type Sums, type SumsQuery } from './sums.ts';
import { usageQuery, usageQueryOf } from './usage-query.ts';

export interface UsageInput {
  store: Pick<Store, 'db'>;
  /** Milliseconds since the epoch. */
  now(): number;
}

const attributes = attributesOf(usageRow, new Set());

/**
 * What was used and what it cost, summed up: by day, or as `filter[]=by='model'` says; of the last 30 days (by hour: of
 * two), or as `filter[]=from>='2026-11-01'` and `to<=` say; of all requests, or of one provider, model, connection or key.
 */
export function usageResource({ now, store }: UsageInput): Resource {
  const rowsOf = async (query: SumsQuery & { by: Grouping }, caller: Caller): Promise<UsageRow[]> => {
    checkKeys(query, caller);
    const end = query.before ?? now();
    return (await slicedSums(store, query)).map((sums) => rowOf(sums, query, end));
  };
  return {
    name: 'usage',
    title: 'Usage',
    summary: 'Tokens, costs and outcomes, summed up by hour, day, provider, model, connection or key.',
    record: usageRow,
    read: 'usage:read',
    guarded: { key_id: 'keys:read' },
    async page(query, caller) {
      const { rest, sums } = usageQuery(query, now());
      return select(await rowsOf(sums, caller), rest, attributes);
    },
    async find(id, caller) {
      const query = usageQueryOf(id, now());
      if (query === null) return null;
      return (await rowsOf(query, caller)).find((row) => row.id === id) ?? null;
    },
  };
}

/** @throws GatewayError for a caller who may not see which keys there are */
function checkKeys({ by, only }: SumsQuery, caller: Caller): void {
  if ((by !== 'key' && only?.key_id === undefined) || caller.can('keys:read')) return;
  throw new GatewayError('forbidden', 'Usage by key needs the permission keys:read');
}

function rowOf(sums: Sums, query: SumsQuery & { by: Grouping }, end: number): UsageRow {
  const { by, only = {}, since } = query;
  const ms = periodMs(by);
  const start = ms === null || sums.period === null ? since : sums.period * ms;
  const stop = ms === null ? end : Math.min(start + ms, query.before ?? Number.POSITIVE_INFINITY);
  const { dimensions } = sums;
  return {
    id: `${by}:${labelOf(by, start, sums)}`,
    by,
    from: new Date(Math.max(start, since)).toISOString(),
    to: new Date(stop).toISOString(),
    provider: dimensions.provider ?? only.provider ?? null,
    model: dimensions.model ?? only.model ?? null,
    connection: dimensions.connection ?? only.connection ?? null,
    key_id: dimensions.key_id ?? only.key_id ?? null,
    requests: sums.requests,
    failed: sums.failed,
    aborted: sums.aborted,
    estimated: sums.estimated,
    unpriced: sums.unpriced,
    cost_usd: sums.costUsd,
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
  }
}
