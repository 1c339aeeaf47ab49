import { queryOptions } from '@tanstack/react-query';
import type { z } from 'zod';
import type { serviceRow } from '../../../../src/services/schema.ts';
import type { ApiClient, Member } from '../../lib/api/client.ts';

export type Service = z.infer<typeof serviceRow> & Member;

const REFRESH_MS = 10_000;

/** The parts of the gateway; connections, tunnels and agents are services as well. */
export function servicesQuery(api: ApiClient) {
  return queryOptions({
    queryKey: ['services'],
    queryFn: ({ signal }) => api.list<Service>('services', { signal, query: { sort_by: 'name' } }),
    refetchInterval: REFRESH_MS,
  });
}

export function serviceQuery(api: ApiClient, id: string) {
  return queryOptions({
    queryKey: ['services', id],
    queryFn: ({ signal }) => api.get<Service>(`services/${encodeURIComponent(id)}`, { signal }),
    refetchInterval: REFRESH_MS,
  });
}
