import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { PostgresStore, SqliteStore, Store } from '../../store/database.ts';
import type { Tables } from '../../store/tables.ts';
import { keepSums } from '../kept-sums/keep.ts';
import { DAY_MS, keptSets, stepsMs } from '../kept-sums/sets.ts';
import { sumSpans } from '../kept-sums/sum-spans.ts';
import { dimensionsIn, measures } from '../sums.ts';

/** How often a day is summed up whose requests change meanwhile. */
const MOST_TRIES = 3;

/**
 * Sums up the requests of a day of UTC once and for all, by everything that sums are kept by. From then on reports take these sums
 * in the place of its requests, which may be removed. Does nothing where that was done before.
 * @param day when it begins, in milliseconds since the epoch
 * @throws Error when its requests go on changing
 */
export async function archiveDay(store: Store, day: number): Promise<void> {
  if (await isArchived(store.db, day)) return;
  if (store.kind === 'sqlite') await archiveInFile(store, day);
  else await archiveOnServer(store, day);
}

async function isArchived(db: Kysely<Tables>, day: number): Promise<boolean> {
  const row = await db
    .selectFrom('archived_spans')
    .select('at')
    .where('step_ms', '=', DAY_MS)
    .where('at', '=', day)
    .executeTakeFirst();
  return row !== undefined;
}

/** The spans of time in a day that there are sums of. */
function spansOf(day: number): { stepMs: number; at: number }[] {
  return stepsMs.flatMap((stepMs) =>
    Array.from({ length: DAY_MS / stepMs }, (_, index) => ({ stepMs, at: day + index * stepMs })),
  );
}

/** Keeps the sums as `openKeptSums` does, and moves them to the archive in one transaction. */
async function archiveInFile({ working }: Pick<SqliteStore, 'working'>, day: number): Promise<void> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    for (const { at, stepMs } of await incomplete(working, day)) await keepSums(working, stepMs, at);
    await sql`begin immediate`.execute(working);
    try {
      const complete = (await incomplete(working, day)).length === 0;
      if (complete) await moveSums(working, day);
      await sql`commit`.execute(working);
      if (complete) return;
    } catch (error) {
      await sql`rollback`.execute(working);
      throw error;
    }
  }
  throw new Error(`the requests of ${new Date(day).toISOString().slice(0, 10)} go on changing`);
}

async function incomplete(working: Kysely<Tables>, day: number): Promise<{ stepMs: number; at: number }[]> {
  const rows = await working
    .selectFrom('usage_spans')
    .select(['step_ms', 'at'])
    .where('complete', '=', 1)
    .where('at', '>=', day)
    .where('at', '<', day + DAY_MS)
    .execute();
  const complete = new Set(rows.map((row) => `${row.step_ms} ${row.at}`));
  return spansOf(day).filter(({ at, stepMs }) => !complete.has(`${stepMs} ${at}`));
}

async function moveSums(working: Kysely<Tables>, day: number): Promise<void> {
  const columns = sql.join(sumsColumns.map((name) => sql.ref(name)));
  const names = sql.join(keptSets.map(({ name }) => sql.lit(name)));
  const sums = sql`usage_sums where grouping_name in (${names}) and ${inDay(day)}`;
  await sql`insert into archived_sums (${columns}) select ${columns} from ${sums}`.execute(working);
  await sql`delete from ${sums}`.execute(working);
  await sql`delete from usage_spans where ${inDay(day)}`.execute(working);
  for (const table of ['value_counts', 'packed_sums'])
    await sql`delete from ${sql.ref(table)} where ${inDay(day)}`.execute(working);
  await noteSpans(working, day);
}

/** What an archived sum has beside its number. */
const sumsColumns: readonly string[] = [
  'grouping_name',
  'at',
  ...dimensionsIn(keptSets.flatMap(({ by }) => by)),
  ...measures.map(({ sumColumn }) => sumColumn),
];

const inDay = (day: number): RawBuilder<unknown> =>
  sql`at >= ${sql.lit(day)} and at < ${sql.lit(day + DAY_MS)}`;

/** All sets in one transaction, which sees the ledger as it is at one moment. */
async function archiveOnServer(
  { inSnapshot }: Pick<PostgresStore, 'inSnapshot'>,
  day: number,
): Promise<void> {
  await inSnapshot(async (db) => {
    await sumSpans(db, 'archived_sums', keptSets, { since: day, before: day + DAY_MS });
    await noteSpans(db, day);
    // What is kept of the day counts no more. Locked in the order in which others who change requests lock.
    await sql`select at from usage_spans where ${inDay(day)} order by step_ms, at for update`.execute(db);
    for (const table of ['usage_spans', 'usage_sums', 'packed_sums', 'value_counts'])
      await sql`delete from ${sql.ref(table)} where ${inDay(day)}`.execute(db);
  });
}

async function noteSpans(db: Kysely<Tables>, day: number): Promise<void> {
  await db
    .insertInto('archived_spans')
    .values(spansOf(day).map(({ at, stepMs }) => ({ step_ms: stepMs, at })))
    .execute();
}
