import { queryOptions } from '@tanstack/react-query';
import type { ApiClient } from './client.ts';

/** Ids of models, combos and aliases that can be asked for: for fields that suggest them. */
export function modelIdsQuery(api: ApiClient) {
  return queryOptions({
    queryKey: ['models', 'ids'],
    queryFn: ({ signal }) => api.list<{ id: string }>('models', { signal, query: { attributes: 'name' } }),
    staleTime: 60_000,
  });
}
