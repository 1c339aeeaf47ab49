import { queryOptions } from '@tanstack/react-query';
import type { z } from 'zod';
import type { discoveryRow } from '../../../../src/connections/schema.ts';
import type { requestRow } from '../../../../src/ledger/schema.ts';
import type { processRow } from '../../../../src/services/schema.ts';
import type { ApiClient, Member } from '../../lib/api/client.ts';

export type Discovery = z.infer<typeof discoveryRow> & Member;
export type Request = z.infer<typeof requestRow>;
export type Cli = NonNullable<z.infer<typeof processRow>['cli']>;

const LOOK_MS = 2_000;

/** What the gateway's machine has to offer, which takes a moment to look for. */
export function discoveriesQuery(api: ApiClient) {
  return queryOptions({
    queryKey: ['discoveries'],
    queryFn: ({ signal }) => api.list<Discovery>('discoveries', { signal }),
    staleTime: 60_000,
  });
}

/** How the program is called on the gateway's machine. */
export function cliQuery(api: ApiClient) {
  return queryOptions({
    queryKey: ['process', 'cli'],
    queryFn: async ({ signal }) => (await api.get<{ cli?: Cli }>('processes/this', { signal })).cli ?? null,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Requests since a moment, looked for until one was answered. */
export function requestsSinceQuery(api: ApiClient, since: string) {
  return queryOptions({
    queryKey: ['requests', 'since', since],
    queryFn: ({ signal }) =>
      api.list<Request>('requests', {
        signal,
        query: { 'filter[]': [`started_at>=${since}`], limit: 20 },
      }),
    refetchInterval: ({ state }) =>
      state.data?.resources.some(({ outcome }) => outcome === 'ok') === true ? false : LOOK_MS,
  });
}
