import { attributesOf } from '../../http/collection/attributes.ts';
import { select } from '../../http/collection/select.ts';
import type { Resource } from '../../http/resource.ts';
import { requestCount } from '../schema.ts';
import type { LedgerReader } from '../sliced-sums.ts';
import { requestCounts } from './counts.ts';
import { requestFilters } from './filters.ts';

export interface CountsInput {
  store: LedgerReader;
  /** Milliseconds since the epoch. */
  now(): number;
}

const attributes = attributesOf(requestCount, new Set());

/** How many requests a filter leaves, by outcome, status, client, key, model and connection, and over time. */
export function requestCountsResource({ now, store }: CountsInput): Resource {
  return {
    name: 'request_counts',
    title: 'Request counts',
    summary:
      'How many requests match a filter, by value and over time. It accepts the filters of `requests`, and `attribute` and `top`.',
    record: requestCount,
    read: 'requests:read',
    filters: new Map([...requestFilters, ['top', 'number']]),
    async page(query) {
      const rows = await requestCounts(store, query.groups, now());
      return select(rows, { ...query, groups: [] }, attributes);
    },
    async find(id) {
      const attribute = id.slice(0, Math.max(id.indexOf(':'), 0));
      const group = [{ attribute: 'attribute', operator: '=', value: attribute } as const];
      if (!(attribute in requestCount.shape.attribute.enum)) return null;
      return (await requestCounts(store, [group], now())).find((row) => row.id === id) ?? null;
    },
  };
}
