import type { Resource } from '../../http/resource.ts';
import { type RunningRequest, runningRequest } from '../schema.ts';

/** The model requests that are not answered yet, the oldest first. */
export function runningRequestsResource(running: () => Promise<readonly RunningRequest[]>): Resource {
  return {
    name: 'running_requests',
    title: 'Running requests',
    summary: 'Model requests that are not answered yet, with the time they have taken so far.',
    record: runningRequest,
    read: 'requests:read',
    list: async () => [...(await running())],
    find: async (id) => (await running()).find((request) => request.id === id) ?? null,
    // How long it takes is no change of it.
    revisionOf: ({ attempts, id, state }) => JSON.stringify([id, attempts, state]),
  };
}
