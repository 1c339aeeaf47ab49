import type { FinishReason } from '../codecs/model/finish-reason.ts';
import type { Config } from '../config.ts';
import type { CacheRow } from './schema.ts';

/** An answer as it went to the client who asked first. */
export interface CachedAnswer {
  status: number;
  /** What can be said again to others, flat. */
  headers: readonly string[];
  body: Buffer;
  /** Where it came from. */
  source: {
    connectionId: string;
    connection: string;
    provider: string;
    model: string;
    streamed: boolean;
    finishReason: FinishReason | null;
  };
}

/** An answer that is kept. Times in milliseconds since the epoch. */
interface CacheEntry {
  answer: CachedAnswer;
  keptAt: number;
  bytes: number;
}

/** What a lookup finds. */
export type CacheLookup =
  | { kind: 'hit'; answer: CachedAnswer; ageMs: number }
  /** The same request is under way: its answer, or null where none came. */
  | { kind: 'wait'; answer: Promise<CachedAnswer | null> }
  /** A miss: the request is carried out, and `keep` takes its answer, or null where none came. */
  | { kind: 'lead'; keep(answer: CachedAnswer | null): void };

export interface AnswerCacheInput {
  maxBytes: number;
  ttlMs: number;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** Answers in memory, the least recently used of which make room for others. */
export interface AnswerCache {
  /**
   * @param ttlMs how old an answer may be at most, where that is less than usual
   * @param fresh whether only an answer that is made now will do
   */
  find(key: string, want: { ttlMs: number | null; fresh: boolean }): CacheLookup;
  countBypass(): void;
  /** @returns how many answers were forgotten */
  clear(): number;
  stats(): CacheRow;
}

/** What an entry takes beside its bytes, about. */
const ENTRY_BYTES = 1_024;
/** An answer may take this share of the room at most. */
const LARGEST_SHARE = 1 / 8;

/** The answers themselves, in the order of their last use. */
function createLruStore({ maxBytes, now, ttlMs: usualTtl }: AnswerCacheInput) {
  const entries = new Map<string, CacheEntry>();
  let bytes = 0;
  const drop = (key: string, entry: CacheEntry) => {
    entries.delete(key);
    bytes -= entry.bytes;
  };
  return {
    size: () => ({ entries: entries.size, bytes }),
    put(key: string, answer: CachedAnswer): void {
      const size = answer.body.length + ENTRY_BYTES;
      if (size > maxBytes * LARGEST_SHARE) return;
      const old = entries.get(key);
      if (old !== undefined) drop(key, old);
      entries.set(key, { answer, keptAt: now(), bytes: size });
      bytes += size;
      for (const [oldest, entry] of entries) {
        if (bytes <= maxBytes) break;
        drop(oldest, entry);
      }
    },
    get(key: string, ttlMs: number): CacheEntry | null {
      const entry = entries.get(key);
      if (entry === undefined) return null;
      const age = now() - entry.keptAt;
      if (age >= usualTtl || age < 0) drop(key, entry);
      if (age >= Math.min(ttlMs, usualTtl) || age < 0) return null;
      entries.delete(key);
      entries.set(key, entry);
      return entry;
    },
    clear(): void {
      entries.clear();
      bytes = 0;
    },
  };
}

/** What each process of a gateway may keep: the owner of the data directory has a cache too. */
export function cacheShare({ cache, workers }: Pick<Config, 'cache' | 'workers'>): Config['cache'] {
  return workers === 1 ? cache : { ...cache, maxBytes: Math.floor(cache.maxBytes / (workers + 1)) };
}

/** The caches of several processes as one. */
export function cacheSum(rows: readonly [CacheRow, ...CacheRow[]]): CacheRow {
  const [first, ...others] = rows;
  if (others.length === 0) return first;
  const sum = (of: (row: CacheRow) => number) => rows.reduce((total, row) => total + of(row), 0);
  const [hits, misses] = [sum((row) => row.hits), sum((row) => row.misses)];
  return {
    id: first.id,
    entries: sum(({ entries }) => entries),
    bytes: sum(({ bytes }) => bytes),
    max_bytes: sum(({ max_bytes }) => max_bytes),
    ttl_seconds: first.ttl_seconds,
    hits,
    misses,
    bypasses: sum(({ bypasses }) => bypasses),
    coalesced: sum(({ coalesced }) => coalesced),
    hit_rate: hits + misses === 0 ? null : hits / (hits + misses),
  };
}

export function createAnswerCache(input: AnswerCacheInput): AnswerCache {
  const { maxBytes, now, ttlMs: usualTtl } = input;
  const stored = createLruStore(input);
  const flights = new Map<string, Promise<CachedAnswer | null>>();
  const counts = { hits: 0, misses: 0, bypasses: 0, coalesced: 0 };

  return {
    find(key, { fresh, ttlMs }) {
      const entry = fresh ? null : stored.get(key, ttlMs ?? usualTtl);
      if (entry !== null) {
        counts.hits += 1;
        return { kind: 'hit', answer: entry.answer, ageMs: now() - entry.keptAt };
      }
      const flight = fresh ? undefined : flights.get(key);
      if (flight !== undefined) {
        counts.coalesced += 1;
        const counted = flight.then((answer) => {
          if (answer === null) counts.misses += 1;
          else counts.hits += 1;
          return answer;
        });
        return { kind: 'wait', answer: counted };
      }
      counts.misses += 1;
      const { promise, resolve } = Promise.withResolvers<CachedAnswer | null>();
      flights.set(key, promise);
      return {
        kind: 'lead',
        keep(answer) {
          if (flights.get(key) === promise) flights.delete(key);
          if (answer !== null) stored.put(key, answer);
          resolve(answer);
        },
      };
    },
    countBypass() {
      counts.bypasses += 1;
    },
    clear() {
      const { entries } = stored.size();
      stored.clear();
      return entries;
    },
    stats() {
      const lookups = counts.hits + counts.misses;
      return {
        id: 'answers',
        ...stored.size(),
        max_bytes: maxBytes,
        ttl_seconds: Math.round(usualTtl / 1000),
        ...counts,
        hit_rate: lookups === 0 ? null : counts.hits / lookups,
      };
    },
  };
}
