import type { Resource } from '../../http/resource.ts';
import type { Store } from '../../store/database.ts';
import { shownRequest, shownRequests } from '../entry-row.ts';
import { requestById, requestPage } from '../page.ts';
import { requestRow } from '../schema.ts';
import { traceOf } from '../traces.ts';

/** The finished model requests, newest first. What was asked and answered is never kept. */
export function requestsResource(store: Pick<Store, 'db'>): Resource {
  return {
    name: 'requests',
    title: 'Requests',
    summary: 'Finished model requests: usage, cost and outcome. Prompts and answers are not kept.',
    record: requestRow,
    read: 'requests:read',
    filters: new Map([['text', 'text']]),
    async page(query) {
      const { count, filtered, rows } = await requestPage(store, query);
      return { rows: await shownRequests(store, rows), count, filtered };
    },
    async find(id) {
      const entry = await requestById(store, id);
      if (entry === null) return null;
      return { ...(await shownRequest(store, entry)), trace: await traceOf(store, entry) };
    },
    // It ended before it was written, and nothing is changed in it.
    revisionOf: ({ id }) => id,
  };
}
