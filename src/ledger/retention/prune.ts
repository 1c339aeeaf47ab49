import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import type { PostgresStore, Store } from '../../store/database.ts';
import { takeLease } from '../../store/lease.ts';
import { DAY_MS } from '../kept-sums/sets.ts';
import { archiveDay } from './archive.ts';

/** What may be removed. */
export interface Prunable {
  /** Requests that began before this, in milliseconds since the epoch; the beginning of a day of UTC. */
  before: number;
  requests: number;
  /** When the first of them began; null where there are none. */
  oldest: number | null;
}

export interface PruneInput {
  store: Store;
  before: number;
  /** Runs work on the store's connection for background work while nobody else uses it. */
  alone<T>(work: () => Promise<T>): Promise<T>;
  /** True once it is to end; what is done stays done. */
  stopped?(): boolean;
  /** Told how many requests are removed so far. */
  progress?(requests: number): void;
  /** After how long it ends and leaves the rest for the next time, in milliseconds. */
  turnMs?: number;
}

export interface PruneResult {
  requests: number;
  /** False where some are left, for it was stopped or its time was over. */
  done: boolean;
}

/** Requests deleted at once: some milliseconds. */
const BATCH_ROWS = 500;
/** Longer than a turn takes. */
const LEASE_MS = 15 * 60_000;
const TURN_MS = 5 * 60_000;

/** The time before which requests are removed that are older than so many days. @param now milliseconds since the epoch */
export function pruneTime(days: number, now: number): number {
  return Math.floor(now / DAY_MS - days) * DAY_MS;
}

/** What `pruneLedger` would remove. */
export async function prunable(store: Pick<Store, 'reading'>, before: number): Promise<Prunable> {
  const row = await store.reading
    .selectFrom('requests')
    .select(({ fn }) => [fn.countAll<number>().as('requests'), fn.min('started_at').as('oldest')])
    .where('started_at', '<', before)
    .executeTakeFirstOrThrow();
  return { before, requests: Number(row.requests), oldest: row.oldest ?? null };
}

/**
 * Removes the requests that began before a time from the ledger, day by day, after their sums were archived: reports by the
 * groupings of the kept sums stay as they were, in whole hours or days of UTC (`kept-sums/sets.ts`). It holds no lock for longer than
 * one small batch. On a server whole months are dropped with their partition.
 * @param input.before the beginning of a day of UTC, in milliseconds since the epoch
 * @returns null where another process does so just now
 */
export async function pruneLedger(input: PruneInput): Promise<PruneResult | null> {
  const lease = await takeLease(input.store, 'ledger retention', LEASE_MS);
  if (lease === null) return null;
  try {
    return await pruned(input);
  } finally {
    await lease.release();
  }
}

async function pruned({
  alone,
  before,
  progress = () => {},
  stopped = () => false,
  store,
  turnMs = TURN_MS,
}: PruneInput) {
  const began = performance.now();
  const over = () => stopped() || performance.now() - began > turnMs;
  let requests = 0;
  const onRemoved = (count: number) => {
    requests += count;
    progress(requests);
  };
  for (
    let day = await nextDay(store, 0, before);
    day !== null;
    day = await nextDay(store, day + DAY_MS, before)
  ) {
    if (over()) return { requests, done: false };
    const current = day;
    await alone(() => archiveDay(store, current));
    // The partition of a month goes with all its days.
    if (store.kind === 'postgres' && monthAfter(day) <= before) continue;
    if (!(await deleteBetween(store, { since: day, before: day + DAY_MS }, { alone, over, onRemoved })))
      return { requests, done: false };
  }
  if (store.kind === 'postgres') await dropMonths(store, before, onRemoved);
  return { requests, done: true };
}

/** The first day from a time on that there are requests of. */
async function nextDay(
  { reading }: Pick<Store, 'reading'>,
  since: number,
  before: number,
): Promise<number | null> {
  const first = await reading
    .selectFrom('requests')
    .select('started_at')
    .where('started_at', '>=', since)
    .where('started_at', '<', before)
    .orderBy('started_at')
    .limit(1)
    .executeTakeFirst();
  return first === undefined ? null : Math.floor(first.started_at / DAY_MS) * DAY_MS;
}

/** When the month ends that a time is in. */
function monthAfter(time: number): number {
  const date = new Date(time);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
}

interface Deleting extends Pick<PruneInput, 'alone'> {
  over(): boolean;
  onRemoved(count: number): void;
}

/** @returns whether all are deleted */
async function deleteBetween(
  store: Store,
  { before, since }: { since: number; before: number },
  { alone, over, onRemoved }: Deleting,
): Promise<boolean> {
  const db = store.kind === 'sqlite' ? store.working : store.db;
  const inSpan = sql`started_at >= ${since} and started_at < ${before}`;
  // An id is looked for in the partition of its month alone.
  const others = store.kind === 'sqlite' ? sql`` : sql`and ${inSpan}`;
  for (;;) {
    const began = performance.now();
    const { rows } = await alone(() =>
      sql`delete from requests where id in (
        select id from requests where ${inSpan} order by started_at limit ${sql.lit(BATCH_ROWS)})
        ${others} returning id`.execute(db),
    );
    onRemoved(rows.length);
    if (rows.length < BATCH_ROWS) return true;
    if (over()) return false;
    // Others who write get as much time.
    await delay(performance.now() - began);
  }
}

async function dropMonths(
  { db, months }: Pick<PostgresStore, 'db' | 'months'>,
  before: number,
  removed: (count: number) => void,
): Promise<void> {
  for (const start of await months.list()) {
    const end = monthAfter(start);
    if (end > before) continue;
    const { requests } = await db
      .selectFrom('requests')
      .select(({ fn }) => fn.countAll<number>().as('requests'))
      .where('started_at', '>=', start)
      .where('started_at', '<', end)
      .executeTakeFirstOrThrow();
    await months.drop(start);
    removed(Number(requests));
  }
}
