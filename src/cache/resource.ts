import type { Resource } from '../http/resource.ts';
import { type CacheRow, cacheRow } from './schema.ts';

export interface CacheInput {
  answers: {
    stats(): Promise<CacheRow>;
    /** @returns how many answers were forgotten */
    clear(): Promise<number>;
  };
}

/** The cache of answers, as a collection of one. */
export function cacheResource({ answers }: CacheInput): Resource {
  return {
    name: 'cache',
    title: 'Cache',
    summary:
      'The response cache: answers that are reused for identical requests, if a key or a combo enables that.',
    record: cacheRow,
    read: 'cache:read',
    list: async () => [await answers.stats()],
    async find(id) {
      const row = await answers.stats();
      return id === row.id ? row : null;
    },
    actions: {
      clear: {
        summary: 'Clears the cache. The counters stay.',
        permission: 'cache:operate',
        preview: async () => ({
          success: true,
          message: `${(await answers.stats()).entries} answers would be forgotten`,
        }),
        async run() {
          const forgotten = await answers.clear();
          return { success: true, message: `${forgotten} answers were forgotten`, result: { forgotten } };
        },
      },
    },
    // What is counted changes with every request, and is no change of the cache.
    revisionOf: ({ id }) => id,
  };
}
