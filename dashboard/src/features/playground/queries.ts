import { queryOptions } from '@tanstack/react-query';
import type { z } from 'zod';
import type { requestRow } from '../../../../src/ledger/schema.ts';
import type { ApiClient } from '../../lib/api/client.ts';
import { ApiError } from '../../lib/api/error.ts';

const TRIES = 15;
const PAUSE_MS = 200;

/** What the ledger has of a request that has just ended: it is written a moment later. */
export function finishedRequestQuery(api: ApiClient, id: string) {
  return queryOptions({
    queryKey: ['request', id],
    queryFn: ({ signal }) =>
      api.get<z.infer<typeof requestRow>>(`requests/${encodeURIComponent(id)}`, { signal }),
    retry: (failures, error) => failures < TRIES && error instanceof ApiError && error.status === 404,
    retryDelay: PAUSE_MS,
    staleTime: Number.POSITIVE_INFINITY,
  });
}
