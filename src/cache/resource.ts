import type { Resource } from '../http/resource.ts';
import type { AnswerCache } from './answers.ts';
import { cacheRow } from './schema.ts';

/** The cache of answers, as a collection of one. */
export function cacheResource({ answers }: { answers: AnswerCache }): Resource {
  return {
    name: 'cache',
    title: 'Cache',
    summary:
      'The response cache: answers that are reused for the same request, where a key or a combo asks for that.',
    record: cacheRow,
    read: 'cache:read',
    list: async () => [answers.stats()],
    find: async (id) => (id === answers.stats().id ? answers.stats() : null),
    actions: {
      clear: {
        summary: 'Clears the cache. The counters stay.',
        permission: 'cache:operate',
        preview: async () => ({
          success: true,
          message: `${answers.stats().entries} answers would be forgotten`,
        }),
        async run() {
          const forgotten = answers.clear();
          return { success: true, message: `${forgotten} answers were forgotten`, result: { forgotten } };
        },
      },
    },
    // What is counted changes with every request, and is no change of the cache.
    revisionOf: ({ id }) => id,
  };
}
