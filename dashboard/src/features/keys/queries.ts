import { queryOptions } from '@tanstack/react-query';
import type { z } from 'zod';
import type { keyRow } from '../../../../src/access/schema.ts';
import type { ApiClient, Member } from '../../lib/api/client.ts';

/** A gateway key with its own limits. */
export type Key = z.infer<typeof keyRow> &
  Member & {
    budget_usd: number | null;
    budget_period: string | null;
    rpm: number | null;
    tpm: number | null;
  };

export function keysQuery(api: ApiClient) {
  return queryOptions({
    queryKey: ['keys'],
    queryFn: ({ signal }) => api.list<Key>('keys', { signal, query: { sort_by: 'name' } }),
  });
}

/** Names of the keys by id. */
export function keyNamesQuery(api: ApiClient) {
  return queryOptions({
    ...keysQuery(api),
    select: ({ resources }) => new Map(resources.map(({ id, name }) => [id, name])),
  });
}
