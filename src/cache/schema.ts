import { z } from 'zod';

/** What the cache of answers holds, and what came of it since the start, as it is shown. */
export const cacheRow = z.object({
  /** `answers`, the one cache that there is. */
  id: z.string(),
  entries: z.int(),
  bytes: z.int(),
  max_bytes: z.int(),
  ttl_seconds: z.int(),
  /** Requests that were answered from it, the coalesced ones included. */
  hits: z.int(),
  misses: z.int(),
  /** Requests that could not be looked up: streams, tools, and requests that opted out. */
  bypasses: z.int(),
  /** Requests that waited for the answer of another one. */
  coalesced: z.int(),
  /** Hits among hits and misses, from 0 to 1; null before the first. */
  hit_rate: z.number().nullable(),
});

export type CacheRow = z.infer<typeof cacheRow>;
