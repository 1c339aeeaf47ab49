import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type { PostgresStore } from '../../store/database.ts';
import { takeLease } from '../../store/lease.ts';
import type { Tables } from '../../store/tables.ts';
import { countDay, countHour, numberValues, replaceCounts, uncountedDays } from './count-values.ts';
import { type KeepingTurn, type MissingSpan, missingSpans } from './missing.ts';
import { notePacked, packSpans, replacePacked, unpackedSpans } from './pack-spans.ts';
import {
  addUpRollup,
  forgetInvalidRollups,
  hasInvalidRollups,
  missingRollups,
  type RollupSpan,
  storeRollup,
} from './rollups.ts';
import { isRunTotalCurrent, updateRunTotal } from './run-totals.ts';
import { DAY_MS, HOUR_MS, type KeptSet, keptSets } from './sets.ts';
import { sumSpans } from './sum-spans.ts';

/** Longer than a turn takes: the day that it ends with may be a large one. */
const LEASE_MS = 15 * 60_000;
/** How long requests that are being written are waited for, and how often they are looked at. */
const WRITERS_MS = 5_000;
const LOOK_MS = 10;
/** SQLSTATE of a transaction that met a later change of what it changes, or waited for one that waited for it. */
const disturbances: ReadonlySet<unknown> = new Set(['40001', '40P01']);

/**
 * Keeps the sums of spans on a server that have ended and are not complete, the latest day first; one gateway does so at a time.
 * @returns how many spans
 */
export async function keepMissingOnServer(store: PostgresStore, turn: KeepingTurn): Promise<number> {
  const isThere = await forgetRemoved(store);
  const missing = async () => (await missingSpans(store.reading, turn.now())).filter(({ at }) => isThere(at));
  const isDone = async ({ reading }: Pick<PostgresStore, 'reading'>) =>
    (await missing()).length === 0 &&
    (await uncountedDays(reading)).length === 0 &&
    (await unpackedSpans(reading)).length === 0 &&
    (await missingRollups(reading)).length === 0 &&
    !(await hasInvalidRollups(reading)) &&
    (await isRunTotalCurrent(reading));
  if (await isDone(store)) return 0;
  const lease = await takeLease(store, 'kept sums', LEASE_MS);
  if (lease === null) return 0;
  try {
    // Another gateway may have kept some until now.
    const days = Map.groupBy(await missing(), ({ at }) => Math.floor(at / DAY_MS));
    let kept = 0;
    for (const [, spans] of [...days].sort(([one], [other]) => other - one)) {
      if (turn.over()) return kept;
      kept += await keepSumsOnServer(store, spans);
      await countDays(store);
    }
    await countDays(store);
    if (!turn.over()) await undisturbed(() => store.inSnapshot((db) => updateRunTotal(db)));
    const unpacked = Map.groupBy(await unpackedSpans(store.reading), ({ at }) => Math.floor(at / DAY_MS));
    for (const [, spans] of unpacked) if (!turn.over()) await packOnServer(store, spans);
    for (const span of await missingRollups(store.reading))
      if (!turn.over()) await rollUpOnServer(store, span);
    if (!turn.over() && (await hasInvalidRollups(store.reading)))
      await undisturbed(() => store.inSnapshot((db) => forgetInvalidRollups(db)));
    return kept;
  } finally {
    await lease.release();
  }
}

/** Adds up the sums and counts of a longer span as they are at one moment. */
async function rollUpOnServer(store: PostgresStore, span: RollupSpan): Promise<void> {
  await undisturbed(() =>
    store.inSnapshot(async (db) => storeRollup(db, span, await addUpRollup(db, 'postgres', span))),
  );
}

async function countDays(store: PostgresStore): Promise<void> {
  for (const day of await uncountedDays(store.reading))
    await undisturbed(() => store.inSnapshot((db) => countDay(db, day)));
}

/**
 * Packs the sums of spans that an earlier version kept. A request that is written or changed meanwhile changes the row of its span, and then
 * nothing is packed.
 */
async function packOnServer(store: PostgresStore, spans: readonly MissingSpan[]): Promise<void> {
  const inOrder = spans.toSorted((one, other) => one.stepMs - other.stepMs || one.at - other.at);
  await undisturbed(() =>
    store.inSnapshot(async (db) => {
      for (const run of runsOf(inOrder))
        await replacePacked(db, run, await packSpans(db, 'postgres', run, 'usage_sums'));
      // Not before: a late request waits for whoever has changed the row of its span. In the order of the triggers.
      for (const span of inOrder) await notePacked(db, span);
    }),
  );
}

/**
 * Sums up the requests of spans of time and keeps the sums. What is counted stays exact: a request that is written or changed
 * meanwhile takes its span's row away (the triggers of migration 0051), and then nothing is kept.
 * @param spans of one day
 * @returns how many are kept
 */
export async function keepSumsOnServer(store: PostgresStore, spans: readonly MissingSpan[]): Promise<number> {
  // Tells them from those of another gateway that does the same.
  const marker = -randomInt(1, 2 ** 47);
  await store.db
    .insertInto('usage_spans')
    .values(spans.map(({ at, stepMs }) => ({ step_ms: stepMs, at, complete: marker })))
    .onConflict((one) => one.columns(['step_ms', 'at']).doUpdateSet({ complete: marker, packed: 0 }))
    .execute();
  if (!(await writersEnded(store))) return 0;
  for (const { at, stepMs } of spans) if (stepMs === HOUR_MS) await numberValues(store.db, at);
  return (await undisturbed(() => store.inSnapshot((db) => keepMarked(db, marker)))) ?? 0;
}

/** What the work returns; null when others changed meanwhile what it changes. */
async function undisturbed<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Error && 'code' in error && disturbances.has(error.code)) return null;
    throw error;
  }
}

/** @param db sees the requests of all who may not have seen the rows of the spans */
async function keepMarked(db: Kysely<Tables>, marker: number): Promise<number> {
  const spans = db
    .selectFrom('usage_spans')
    .select(['step_ms as stepMs', 'at'])
    .where('complete', '=', marker)
    .orderBy('step_ms')
    .orderBy('at');
  const marked = await spans.execute();
  for (const { at, stepMs } of marked)
    if (stepMs === HOUR_MS) await replaceCounts(db, at, await countHour(db, 'postgres', at));
  for (const { before, since, stepMs } of runsOf(marked)) {
    const sets = keptSets.filter((set) => set.stepMs === stepMs);
    await deleteSums(db, sets, { since, before });
    await sumSpans(db, 'usage_sums', sets, { since, before });
  }
  for (const run of runsOf(marked))
    await replacePacked(db, run, await packSpans(db, 'postgres', run, 'usage_sums'));
  // Not before: a late request waits for whoever has locked the row of its span. In the order of the triggers.
  const kept = await spans.forUpdate().execute();
  await db
    .updateTable('usage_spans')
    .set({ complete: 1, packed: 1, counted: sql`cast(1 + floor(random() * 2147483647) as bigint)` })
    .where('complete', '=', marker)
    .execute();
  return kept.length;
}

interface SpanRange {
  stepMs: number;
  since: number;
  before: number;
}

/** Spans next to each other as one. @param spans in order */
function runsOf(spans: readonly MissingSpan[]): SpanRange[] {
  const runs: SpanRange[] = [];
  for (const { at, stepMs } of spans) {
    const last = runs.at(-1);
    if (last?.stepMs === stepMs && last.before === at) last.before = at + stepMs;
    else runs.push({ stepMs, since: at, before: at + stepMs });
  }
  return runs;
}

async function deleteSums(
  db: Kysely<Tables>,
  sets: readonly KeptSet[],
  { before, since }: Omit<SpanRange, 'stepMs'>,
): Promise<void> {
  await db
    .deleteFrom('usage_sums')
    .where(
      'grouping_name',
      'in',
      sets.map(({ name }) => name),
    )
    .where('at', '>=', since)
    .where('at', '<', before)
    .execute();
}

/**
 * Waits until all have ended who write requests now: what they write may be there later without their having seen a span's row. As
 * `create index concurrently` does.
 * @returns false when that takes too long
 */
async function writersEnded({ db }: Pick<PostgresStore, 'db'>): Promise<boolean> {
  const began = performance.now();
  const writers = async () => {
    const { rows } = await sql<{ one: string }>`select virtualtransaction as one from pg_locks
      where locktype = 'relation' and relation = 'requests'::regclass and mode = 'RowExclusiveLock'
        and database = (select oid from pg_database where datname = current_database())`.execute(db);
    return new Set(rows.map(({ one }) => one));
  };
  let waited = await writers();
  while (waited.size > 0) {
    if (performance.now() - began > WRITERS_MS) return false;
    await delay(LOOK_MS);
    const writing = await writers();
    waited = new Set([...waited].filter((one) => writing.has(one)));
  }
  return true;
}

/**
 * Forgets the sums of days that are in the archive, and of months whose part of the ledger somebody dropped.
 * @returns whether a time is in a month that there is a part of
 */
async function forgetRemoved({
  db,
  months,
}: Pick<PostgresStore, 'db' | 'months'>): Promise<(at: number) => boolean> {
  const parts = new Set(await months.list());
  const isThere = (at: number) => parts.has(monthOf(at));
  const spans = await db
    .selectFrom('usage_spans')
    .select(['step_ms as stepMs', 'at'])
    .orderBy('step_ms')
    .orderBy('at')
    .execute();
  const archived = await db.selectFrom('archived_spans').select(['step_ms', 'at']).execute();
  const gone = new Set(archived.map(({ at, step_ms }) => `${step_ms} ${at}`));
  const removed = spans.filter(({ at, stepMs }) => !isThere(at) || gone.has(`${stepMs} ${at}`));
  for (const run of runsOf(removed))
    await db.transaction().execute(async (trx) => {
      await trx
        .deleteFrom('usage_spans')
        .where('step_ms', '=', run.stepMs)
        .where('at', '>=', run.since)
        .where('at', '<', run.before)
        .execute();
      await deleteSums(
        trx,
        keptSets.filter((set) => set.stepMs === run.stepMs),
        run,
      );
      for (const table of ['value_counts', 'packed_sums'] as const)
        await trx
          .deleteFrom(table)
          .where('step_ms', '=', run.stepMs)
          .where('at', '>=', run.since)
          .where('at', '<', run.before)
          .execute();
    });
  return isThere;
}

/** When the month begins that a time is in. */
function monthOf(time: number): number {
  const date = new Date(time);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
}
