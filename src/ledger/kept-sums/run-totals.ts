import { type Kysely, sql } from 'kysely';
import type { Tables } from '../../store/tables.ts';
import { HOUR_MS } from './sets.ts';

type Db = Kysely<Tables>;

/**
 * The count of the runs with requests of some hours, which are next to each other. It holds as long as the hours are what they were when it was
 * made: each time an hour is summed up, its row in `usage_spans` gets another number.
 */
interface RunTotal {
  /** The hour of the first request of all, and where the hours end, in milliseconds since the epoch. */
  since: number;
  before: number;
  fingerprint: string;
  runs: number;
}

/** The one row. */
const ID = 1;

/**
 * Brings the count of runs up to the last hour that is summed up.
 * @param isSame tells of a fingerprint whether it still holds, where the database does not stand still meanwhile
 */
export async function updateRunTotal(
  db: Db,
  isSame: (time: Pick<RunTotal, 'since' | 'before' | 'fingerprint'>) => Promise<boolean> = async () => true,
): Promise<void> {
  const since = await firstHour(db);
  if (since === null) return;
  const before = await endOfHours(db, since);
  if (before === since) return;
  const stored = await storedTotal(db, since);
  if (stored?.before === before) return;
  const fingerprint = await fingerprintOf(db, { since, before });
  const runs =
    stored === null ? await runsBefore(db, before) : stored.runs + (await newRuns(db, stored.before, before));
  if (!(await isSame({ since, before, fingerprint }))) return;
  const total = { since, before, fingerprint, runs };
  await db
    .insertInto('run_totals')
    .values({ id: ID, ...total })
    .onConflict((one) => one.column('id').doUpdateSet(total))
    .execute();
}

/** Whether the count of runs reaches to the last hour that is summed up. */
export async function isRunTotalCurrent(db: Db): Promise<boolean> {
  const since = await firstHour(db);
  if (since === null) return true;
  const before = await endOfHours(db, since);
  return before === since || (await storedTotal(db, since))?.before === before;
}

/** How many runs of tools the ledger has. Those of the hours that have ended are not counted one by one. */
export async function countOfRuns(db: Db): Promise<number> {
  const since = await firstHour(db);
  const stored = since === null ? null : await storedTotal(db, since);
  return stored === null ? runsBefore(db, null) : stored.runs + (await newRuns(db, stored.before, null));
}

/** What a count of runs depends on, of the hours of a time. */
export async function fingerprintOf(
  db: Db,
  { before, since }: Pick<RunTotal, 'since' | 'before'>,
): Promise<string> {
  const { numbers, spans } = await db
    .selectFrom('usage_spans')
    .select(({ fn }) => [fn.countAll<number>().as('spans'), fn.sum<number>('counted').as('numbers')])
    .where('step_ms', '=', HOUR_MS)
    .where('at', '>=', since)
    .where('at', '<', before)
    .where('complete', '=', 1)
    .where('counted', '>', 0)
    .executeTakeFirstOrThrow();
  return `${spans} ${numbers}`;
}

async function firstHour(db: Db): Promise<number | null> {
  const first = await db.selectFrom('requests').select('started_at').orderBy('started_at').limit(1).execute();
  return first[0] === undefined ? null : Math.floor(first[0].started_at / HOUR_MS) * HOUR_MS;
}

/** Where the hours end that are summed up without a gap. */
async function endOfHours(db: Db, since: number): Promise<number> {
  const hours = await db
    .selectFrom('usage_spans')
    .select('at')
    .where('step_ms', '=', HOUR_MS)
    .where('at', '>=', since)
    .where('complete', '=', 1)
    .where('counted', '>', 0)
    .orderBy('at')
    .execute();
  let end = since;
  for (const { at } of hours) {
    if (at !== end) break;
    end += HOUR_MS;
  }
  return end;
}

/** The count that is stored; null where there is none, or where it does not hold any more. */
async function storedTotal(db: Db, since: number): Promise<RunTotal | null> {
  const total = await db.selectFrom('run_totals').selectAll().where('id', '=', ID).executeTakeFirst();
  if (total === undefined || total.since !== since) return null;
  return (await fingerprintOf(db, total)) === total.fingerprint ? total : null;
}

/** By the index of sessions alone. */
async function runsBefore(db: Db, before: number | null): Promise<number> {
  let each = db
    .selectFrom('requests')
    .select(['session', 'key_id'])
    .distinct()
    .where('session', 'is not', null);
  if (before !== null) each = each.where('started_at', '<', before);
  const { count } = await db
    .selectFrom(each.as('runs'))
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** How many runs began in a time: there are no earlier requests of theirs. */
async function newRuns(db: Db, since: number, before: number | null): Promise<number> {
  const end = before === null ? sql`` : sql`and started_at < ${before}`;
  const { rows } = await sql<{ count: number }>`select count(*) as count from (
      select distinct session, key_id from requests
      where started_at >= ${since} ${end} and coalesce(session, null) is not null
    ) as run
    where not exists (
      select 1 from requests as earlier
      where earlier.session = run.session and earlier.started_at < ${since}
        and (earlier.key_id = run.key_id or (earlier.key_id is null and run.key_id is null))
    )`.execute(db);
  return rows[0]?.count ?? 0;
}
