import { type Kysely, sql } from 'kysely';
import type { Tables } from '../../store/tables.ts';
import { dimensionsIn, measures, sumColumns } from '../sums.ts';
import type { KeptSet } from './sets.ts';

/** Times in milliseconds since the epoch. */
export interface SummedTime {
  since: number;
  before: number;
}

/**
 * Sums up the requests of a time on a server, by hours or days as each set has them, in the words of PostgreSQL.
 * @param db a transaction that sees the ledger as it is at one moment
 * @param table where the sums go; there are none of that time in it
 * @param sets with each set also the one that it is made of
 */
export async function sumSpans(
  db: Kysely<Tables>,
  table: 'archived_sums' | 'usage_sums',
  sets: readonly KeptSet[],
  time: SummedTime,
): Promise<void> {
  for (const set of sets) if (set.of === undefined) await sumUp(db, table, set, time);
  for (const set of sets) if (set.of !== undefined) await sumUpAgain(db, table, set, set.of, time);
}

async function sumUp(
  db: Kysely<Tables>,
  table: string,
  { by, name, stepMs }: KeptSet,
  time: SummedTime,
): Promise<void> {
  // Its first column is when the hour or the day begins.
  const { columns, select } = sumColumns(db, { by, ...time }, stepMs);
  const others = sql.join(columns.slice(1).map((column) => sql.ref(column)));
  await sql`insert into ${sql.ref(table)} (grouping_name, at, ${others})
    select ${sql.lit(name)}, each_group.* from (${select}) as each_group`.execute(db);
}

/** Sums of the sums of a set with more groups. */
async function sumUpAgain(
  db: Kysely<Tables>,
  table: string,
  { by, name }: KeptSet,
  of: string,
  { before, since }: SummedTime,
): Promise<void> {
  const dimensions = dimensionsIn(by).map((dimension) => sql.ref(dimension));
  const values = sql.join([...dimensions, ...measures.map(({ sumOfKept }) => sumOfKept)]);
  const columns = sql.join([
    sql.ref('at'),
    ...dimensions,
    ...measures.map(({ sumColumn }) => sql.ref(sumColumn)),
  ]);
  await sql`insert into ${sql.ref(table)} (grouping_name, ${columns})
    select ${sql.lit(name)}, at, ${values} from ${sql.ref(table)}
    where grouping_name = ${sql.lit(of)} and at >= ${sql.lit(since)} and at < ${sql.lit(before)}
    group by ${sql.join([sql.ref('at'), ...dimensions])}`.execute(db);
}
