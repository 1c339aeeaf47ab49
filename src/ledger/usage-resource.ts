import { attributesOf } from '../http/collection/attributes.ts';
import { select } from '../http/collection/select.ts';
import type { Caller, Resource, Row } from '../http/resource.ts';
import { GatewayError } from '../lib/error.ts';
import { type UsageRow, usageRow } from './schema.ts';
import type { LedgerReader } from './sliced-sums.ts';
import type { SumsQuery } from './sums.ts';
import { usageRows } from './usage.ts';
import { usageQueryOf, usageQuestions } from './usage-query.ts';

export interface UsageInput {
  store: LedgerReader;
  /** Milliseconds since the epoch. */
  now(): number;
}

const attributes = attributesOf(usageRow, new Set());

/**
 * What was used and what it cost, summed up: by day, or as `filter[]=by='model'` or `by='day,key'` says; of the last 30
 * days (by hour: of two), or as `filter[]=from>='2026-11-01'` and `to<=` say; of all requests, or of one provider, model, connection or key.
 * `filter[]=or by='hour'` adds the rows of another question.
 */
export function usageResource({ now, store }: UsageInput): Resource {
  const rowsOf = (query: SumsQuery, caller: Caller): Promise<UsageRow[]> => {
    checkKeys(query, caller);
    return usageRows(store, query, now());
  };
  return {
    name: 'usage',
    title: 'Usage',
    summary: 'Tokens, costs and outcomes, summed up by hour, day, provider, model, connection, key or combo.',
    record: usageRow,
    read: 'usage:read',
    filters: new Map([
      ['top', 'number'],
      ['time_zone', 'text'],
    ]),
    guarded: { key_id: 'keys:read', key_name: 'keys:read' },
    async page(query, caller) {
      const rows: Row[] = [];
      let count = 0;
      for (const { left, sums } of usageQuestions(query.groups, now())) {
        const summed = await rowsOf(sums, caller);
        const whole = {
          ...query,
          groups: left.length === 0 ? [] : [left],
          sort: [],
          offset: 0,
          limit: summed.length,
        };
        rows.push(...select(summed, whole, attributes).rows);
        count += summed.length;
      }
      return { ...select(rows, { ...query, groups: [] }, attributes), count };
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
  if ((!by.includes('key') && only?.key_id === undefined) || caller.can('keys:read')) return;
  throw new GatewayError('forbidden', 'Usage by key needs the permission keys:read');
}
