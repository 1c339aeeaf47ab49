import { queryOptions } from '@tanstack/react-query';
import type { z } from 'zod';
import type { providerRow } from '../../../../src/catalog/row-schema.ts';
import type { connectionRow } from '../../../../src/connections/schema.ts';
import type { ApiClient, Member } from '../../lib/api/client.ts';

export type Connection = z.infer<typeof connectionRow> & Member;
export type Provider = z.infer<typeof providerRow>;

export function connectionsQuery(api: ApiClient) {
  return queryOptions({
    queryKey: ['connections'],
    queryFn: ({ signal }) => api.list<Connection>('connections', { signal, query: { sort_by: 'name' } }),
  });
}

/** Who can be connected. */
export function providersQuery(api: ApiClient) {
  return queryOptions({
    queryKey: ['providers'],
    queryFn: ({ signal }) => api.list<Provider>('providers', { signal, query: { sort_by: 'name' } }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}
