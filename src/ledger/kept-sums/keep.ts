import { sql } from 'kysely';
import type { Store } from '../../store/database.ts';
import { dimensionsIn, measures, sumColumns } from '../sums.ts';
import { countDay, countHour, numberValues, replaceCounts } from './count-values.ts';
import type { MissingSpan } from './missing.ts';
import { notePacked, packSpans, replacePacked } from './pack-spans.ts';
import { addUpRollup, forgetInvalidRollups, type RollupSpan, storeRollup } from './rollups.ts';
import { fingerprintOf, updateRunTotal } from './run-totals.ts';
import { countedNumber, HOUR_MS, type KeptSet, keptSets } from './sets.ts';

/**
 * Sums up the requests of one span of time and keeps the sums. What is counted stays exact: a request that is written or
 * changed meanwhile takes the span's row away, and then nothing is kept.
 * @param working a connection of which nobody else makes use meanwhile
 * @param at where the span begins, in milliseconds since the epoch: a multiple of `stepMs`
 * @returns whether the sums are kept
 */
export async function keepSums(working: Store['db'], stepMs: number, at: number): Promise<boolean> {
  const span = sql`step_ms = ${stepMs} and at = ${at}`;
  await sql`insert into usage_spans (step_ms, at, complete) values (${stepMs}, ${at}, 0)
    on conflict (step_ms, at) do update set complete = 0, packed = 0`.execute(working);
  const sets = keptSets.filter((set) => set.stepMs === stepMs);
  // Apart from the database, so that nobody waits for the writing of it.
  await sql`create temporary table if not exists summed as select * from usage_sums where false`.execute(
    working,
  );
  await sql`delete from summed`.execute(working);
  for (const set of sets) if (set.of === undefined) await sumUp(working, set, at);
  for (const set of sets) if (set.of !== undefined) await sumUpAgain(working, set, set.of);
  const isHour = stepMs === HOUR_MS;
  if (isHour) await numberValues(working, at);
  const counted = isHour ? await countHour(working, 'sqlite', at) : null;
  const time = { stepMs, since: at, before: at + stepMs };
  const packed = await packSpans(working, 'sqlite', time, 'summed');
  return inTransaction(working, async () => {
    const { rows } = await sql`select 1 from usage_spans where ${span} and complete = 0`.execute(working);
    if (rows.length === 0) return false;
    for (const { name } of sets)
      await sql`delete from usage_sums where grouping_name = ${name} and at = ${at}`.execute(working);
    await sql`insert into usage_sums select * from summed`.execute(working);
    if (counted !== null) await replaceCounts(working, at, counted);
    await replacePacked(working, time, packed);
    await sql`update usage_spans set complete = 1, packed = 1, counted = ${isHour ? countedNumber() : 0}
      where ${span}`.execute(working);
    return true;
  });
}

/** Packs the sums of a span that an earlier version kept. @returns whether they still are kept */
export async function packInFile(working: Store['db'], span: MissingSpan): Promise<boolean> {
  const time = { stepMs: span.stepMs, since: span.at, before: span.at + span.stepMs };
  const packed = await packSpans(working, 'sqlite', time, 'usage_sums');
  return inTransaction(working, async () => {
    // What takes the row away meanwhile makes no other: nobody else keeps sums in a file.
    const isKept = await notePacked(working, span);
    if (isKept) await replacePacked(working, time, packed);
    return isKept;
  });
}

/** Counts the values of a day whose hours are counted. @returns whether all of them still were */
export async function countDayInFile(working: Store['db'], day: number): Promise<boolean> {
  return inTransaction(working, () => countDay(working, day));
}

/** Adds up the sums and counts of a longer span. @returns whether they are stored: its requests may have changed meanwhile */
export async function rollUpInFile(working: Store['db'], span: RollupSpan): Promise<boolean> {
  const content = await addUpRollup(working, 'sqlite', span);
  return inTransaction(working, () => storeRollup(working, span, content));
}

/** Removes what is stored of longer spans whose requests changed. */
export async function forgetInvalidInFile(working: Store['db']): Promise<void> {
  await inTransaction(working, () => forgetInvalidRollups(working));
}

/** The statements of one who writes by the thread for background work. */
async function inTransaction<T>(working: Store['db'], work: () => Promise<T>): Promise<T> {
  await sql`begin immediate`.execute(working);
  try {
    const result = await work();
    await sql`commit`.execute(working);
    return result;
  } catch (error) {
    await sql`rollback`.execute(working);
    throw error;
  }
}

/** Brings the count of runs of tools up to the last hour that is summed up. */
export async function updateRunTotalInFile(working: Store['db']): Promise<void> {
  await updateRunTotal(
    working,
    async ({ fingerprint, ...time }) => (await fingerprintOf(working, time)) === fingerprint,
  );
}

async function sumUp(working: Store['db'], { by, name, stepMs }: KeptSet, at: number): Promise<void> {
  const { columns, select } = sumColumns(working, { by, since: at, before: at + stepMs });
  await sql`insert into summed (grouping_name, at, ${sql.join(columns.map((one) => sql.ref(one)))})
    select ${name}, ${at}, each_group.* from (${select}) as each_group where requests > 0`.execute(working);
}

/** Sums of the sums of a set with more groups. */
async function sumUpAgain(working: Store['db'], { by, name }: KeptSet, of: string): Promise<void> {
  const dimensions = dimensionsIn(by).map((dimension) => sql.ref(dimension));
  const sums = measures.map(({ sumColumn }) => sql.ref(sumColumn));
  const columns = sql.join([sql.ref('at'), ...dimensions, ...sums]);
  const values = sql.join([...dimensions, ...measures.map(({ sumOfKept }) => sumOfKept)]);
  await sql`insert into summed (grouping_name, ${columns})
    select ${name}, at, ${values} from summed where grouping_name = ${of}
    group by ${sql.join([sql.ref('at'), ...dimensions])}`.execute(working);
}
