import { queryOptions } from '@tanstack/react-query';
import type { z } from 'zod';
import type { requestRow } from '../../../../src/ledger/schema.ts';
import type { processRow } from '../../../../src/services/schema.ts';
import type { ApiClient } from '../../lib/api/client.ts';

export type Request = z.infer<typeof requestRow>;
export type Cli = NonNullable<z.infer<typeof processRow>['cli']>;

const LOOK_MS = 2_000;

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
