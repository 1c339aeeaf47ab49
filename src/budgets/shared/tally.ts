import { z } from 'zod';
import type { Window } from '../window.ts';

// Not `z.int()`: what is absurdly large must be counted all the same.
const amount = z.number().nonnegative();

/** What one gateway has of a budget. Amounts are whole, as those of a counter. */
const tallyEntry = z.object({
  /** Grows with each version of the entry, which only its gateway writes. */
  seq: z.number(),
  /** Used and set aside, by the bucket's beginning. */
  used: z.array(z.tuple([z.number(), amount])).readonly(),
  /** Granted beyond that: the gateway may use it without asking. */
  free: amount,
  /** Until when it may use what is free, in milliseconds since the epoch by its own clock. */
  until: z.number(),
  /** When it wrote this, by Redis's clock. */
  seen: z.number(),
});

export type TallyEntry = z.infer<typeof tallyEntry>;

/**
 * What all gateways together have of one budget: a grow-only map of entries, of which each has one writer. Any two
 * versions can be merged, so what any gateway remembers puts back what Redis has lost.
 */
const tally = z.object({
  /** What was used before the owner's last reset is not in it. Milliseconds since the epoch, 0 for never. */
  resetAt: z.number(),
  /** By the gateway's id. */
  entries: z.record(z.string(), tallyEntry),
  /** Gateways that have to report again before anything is granted, each with the time until which that is waited for. */
  awaited: z.record(z.string(), z.number()),
  /** When a request last found no room but what others hold free, by Redis's clock. */
  contendedAt: z.number(),
});

export type Tally = z.infer<typeof tally>;

/** For how long a gateway counts as alive that says nothing more, in milliseconds of Redis's clock. */
const PRESENCE_MS = 30_000;
const CONTENDED_MS = 2_000;

export const emptyTally: Tally = { resetAt: 0, entries: {}, awaited: {}, contendedAt: 0 };

/** The tally that a text stands for; null for none, and for what is none. */
export function parseTally(text: string | null): Tally | null {
  if (text === null || text === '') return null;
  try {
    return tally.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

/**
 * The newer version of each entry, and the gateways awaited by the version received last. The later reset forgets what
 * was before it.
 */
export function mergeTallies(own: Tally, received: Tally): Tally {
  const { awaited } = received;
  const contendedAt = Math.max(own.contendedAt, received.contendedAt);
  if (own.resetAt !== received.resetAt)
    return { ...(own.resetAt > received.resetAt ? own : received), awaited, contendedAt };
  const entries = { ...own.entries };
  for (const [id, entry] of Object.entries(received.entries)) {
    const mine = entries[id];
    if (mine === undefined || mine.seq < entry.seq) entries[id] = entry;
  }
  return { resetAt: own.resetAt, entries, awaited, contendedAt };
}

/** Without what counts no more, for good. */
export function pruneTally(tally: Tally, window: Window, at: number, redisNow: number): Tally {
  const entries: Record<string, TallyEntry> = {};
  for (const [id, entry] of Object.entries(tally.entries)) {
    if (window.kind === 'moment') {
      if (isAlive(entry, redisNow)) entries[id] = entry;
      continue;
    }
    const old = at - window.keepMs;
    const used = entry.used.filter(([bucket]) => bucket >= old);
    if (used.length > 0 || entry.until >= old) entries[id] = { ...entry, used };
  }
  const awaited = Object.entries(tally.awaited).filter(([, until]) => until > redisNow);
  return { ...tally, entries, awaited: Object.fromEntries(awaited) };
}

export function isAlive({ seen }: TallyEntry, redisNow: number): boolean {
  return seen >= redisNow - PRESENCE_MS;
}

/** Whether others have to report before anything is granted. */
export function isAwaiting({ awaited }: Tally): boolean {
  return Object.keys(awaited).length > 0;
}

export function isContended({ contendedAt }: Tally, redisNow: number): boolean {
  return redisNow < contendedAt + CONTENDED_MS;
}

/** What an entry has used, of the buckets that count at a moment, each with its amount. */
export function usedOf(entry: TallyEntry, window: Window, at: number, redisNow: number): [number, number][] {
  if (window.kind === 'moment') return isAlive(entry, redisNow) ? [...entry.used] : [];
  // The clock of another gateway may be ahead of this one's.
  const ahead = window.kind === 'rolling' ? at + window.keepMs : at;
  return entry.used.filter(([bucket]) => window.counts(bucket, at) || (bucket > at && bucket <= ahead));
}

/** What the gateways other than `me` have used, of what counts at a moment. */
export function usageByOthers(
  tally: Tally,
  me: string,
  window: Window,
  at: number,
  redisNow: number,
): number {
  let sum = 0;
  for (const [id, entry] of Object.entries(tally.entries)) {
    if (id === me) continue;
    for (const [, used] of usedOf(entry, window, at, redisNow)) sum += used;
  }
  return sum;
}

/** Who holds something free says so every second. */
const RETURNS_MS = 3_000;

/**
 * What the gateways other than `me` may still use without asking, or may have used without having said so: in all, and
 * what of that is held by gateways that have said nothing for a while, and will hardly give it back.
 */
export function freeOfOthers(
  tally: Tally,
  me: string,
  window: Window,
  at: number,
  redisNow: number,
): { all: number; stuck: number } {
  const free = { all: 0, stuck: 0 };
  for (const [id, entry] of Object.entries(tally.entries)) {
    if (id === me) continue;
    const counts =
      window.kind === 'moment'
        ? isAlive(entry, redisNow)
        : entry.until > at || window.counts(window.bucketAt(entry.until - 1), at);
    if (!counts) continue;
    free.all += entry.free;
    if (entry.seen < redisNow - RETURNS_MS) free.stuck += entry.free;
  }
  return free;
}
