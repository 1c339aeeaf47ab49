import { queryOptions } from '@tanstack/react-query';
import type { z } from 'zod';
import type { providerRow } from '../../../../src/catalog/row-schema.ts';
import type { connectionRow } from '../../../../src/connections/schema.ts';
import type { quotaRow } from '../../../../src/health/schema.ts';
import type { taskRow } from '../../../../src/services/schema.ts';
import type { ApiClient, Member } from '../../lib/api/client.ts';

export type Connection = z.infer<typeof connectionRow> & Member;
export type Provider = z.infer<typeof providerRow>;
export type Quota = z.infer<typeof quotaRow> & Member;
export type Task = z.infer<typeof taskRow>;

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

/** What is left of the limits and the money of each account. */
export function quotaQuery(api: ApiClient) {
  return queryOptions({
    queryKey: ['quota'],
    queryFn: ({ signal }) => api.list<Quota>('quota', { signal }),
    refetchInterval: 60_000,
  });
}

const POLL_MS = 1500;

/** A task until it is finished. */
export function taskQuery(api: ApiClient, id: string) {
  return queryOptions({
    queryKey: ['tasks', id],
    queryFn: ({ signal }) => api.get<Task>(`tasks/${encodeURIComponent(id)}`, { signal }),
    refetchInterval: ({ state }) => (state.data?.state === 'Finished' ? false : POLL_MS),
  });
}
