import { queryOptions } from '@tanstack/react-query';
import type { z } from 'zod';
import type { keyRow } from '../../../../src/access/schema.ts';
import type { requestRow } from '../../../../src/ledger/schema.ts';
import type { ApiClient, Member } from '../../lib/api/client.ts';
import { quoted } from '../../lib/api/filter.ts';
import { playgroundLabel } from './key.ts';

/** Keys that were made for the playground; their label is `playgroundLabel`. */
export function playgroundKeysQuery(api: ApiClient) {
  return queryOptions({
    queryKey: ['keys', 'playground'],
    queryFn: async ({ signal }) => {
      const all = await api.list<z.infer<typeof keyRow> & Member>('keys', { signal });
      return {
        ...all,
        resources: all.resources.filter(({ labels }) => labels['purpose'] === playgroundLabel.purpose),
      };
    },
  });
}

const TRIES = 15;
const PAUSE_MS = 200;

/** The request is not in the ledger yet. */
class NotWritten extends Error {}

/** What the ledger has of a request that has just ended: it is written a moment later. */
export function finishedRequestQuery(api: ApiClient, id: string) {
  return queryOptions({
    queryKey: ['request', 'finished', id],
    // Asked for as a list, which is empty where a member would be an error.
    async queryFn({ signal }) {
      const query = { 'filter[]': [`id==${quoted(id)}`], limit: 1 };
      const { resources } = await api.list<z.infer<typeof requestRow>>('requests', { signal, query });
      const [request] = resources;
      if (request === undefined) throw new NotWritten();
      return request;
    },
    retry: (failures, error) => failures < TRIES && error instanceof NotWritten,
    retryDelay: PAUSE_MS,
    staleTime: Number.POSITIVE_INFINITY,
  });
}
