import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Store } from '../../store/database.ts';
import type { Tables } from '../../store/tables.ts';
import { dimensionsIn, measures, sumColumns } from '../sums.ts';
import type { MissingSpan } from './missing.ts';
import { encodeSums } from './packed-sums.ts';
import { DAY_MS, packedSets } from './sets.ts';

/** Spans of one length next to each other. */
export interface SpansTime {
  stepMs: number;
  /** Where the first begins and the last ends, in milliseconds since the epoch. */
  since: number;
  before: number;
}

/** The packed sums of spans: by where the span begins, then by the name of the set. Of a span without requests there are none. */
export type SpanSums = ReadonlyMap<number, ReadonlyMap<string, Uint8Array>>;

/**
 * Packs the sums of spans, of each packed set.
 * @param daySums where sums of days are, a table with the columns of `usage_sums`; those of hours are made of the requests
 */
export async function packSpans(
  db: Kysely<Tables>,
  kind: Store['kind'],
  { before, since, stepMs }: SpansTime,
  daySums: 'summed' | 'usage_sums',
): Promise<SpanSums> {
  const packed = new Map<number, Map<string, Uint8Array>>();
  for (const { by, name } of packedSets) {
    const dimensions = dimensionsIn(by);
    const columns = [...dimensions, ...measures.map(({ sumColumn }) => sumColumn)];
    const isDay = stepMs === DAY_MS;
    const begin = sql.ref(isDay ? 'at' : 'period');
    const from = isDay
      ? sql`select * from ${sql.ref(daySums)} as day_sums
          where grouping_name = ${sql.lit(name)} and at >= ${sql.lit(since)} and at < ${sql.lit(before)}`
      : sumColumns(db, { by, since, before }, stepMs).select;
    const { rows } = await sql<Record<string, string> & { begin: number }>`
      select ${begin} as begin, ${sql.join(columns.map((column) => listOf(kind, column)))}
      from (${from}) as each_group group by 1`.execute(db);
    for (const row of rows) {
      const read = (names: readonly string[]) =>
        Object.fromEntries(names.map((one) => [one, JSON.parse(row[one] ?? '[]')]));
      const sums = packed.get(row.begin) ?? new Map();
      packed.set(row.begin, sums);
      sums.set(
        name,
        encodeSums({ names: read(dimensions), amounts: read(measures.map(({ sumColumn }) => sumColumn)) }),
      );
    }
  }
  return packed;
}

/** A column as a JSON array. */
function listOf(kind: Store['kind'], column: string): RawBuilder<unknown> {
  return kind === 'postgres'
    ? sql`cast(json_agg(${sql.ref(column)}) as text) as ${sql.ref(column)}`
    : sql`json_group_array(${sql.ref(column)}) as ${sql.ref(column)}`;
}

/** Puts the packed sums of spans in the place of earlier ones. @param db a transaction */
export async function replacePacked(
  db: Kysely<Tables>,
  { before, since, stepMs }: SpansTime,
  packed: SpanSums,
): Promise<void> {
  await db
    .deleteFrom('packed_sums')
    .where('step_ms', '=', stepMs)
    .where('at', '>=', since)
    .where('at', '<', before)
    .execute();
  // One by one: a worker's statement has its bytes copied.
  for (const [at, each] of packed)
    for (const [grouping_name, sums] of each)
      await db.insertInto('packed_sums').values({ grouping_name, step_ms: stepMs, at, sums }).execute();
}

/** Spans whose sums are kept, by an earlier version, and not packed, the latest first. */
export async function unpackedSpans(db: Kysely<Tables>): Promise<MissingSpan[]> {
  return db
    .selectFrom('usage_spans')
    .select(['step_ms as stepMs', 'at'])
    .where('complete', '=', 1)
    .where('packed', '=', 0)
    .orderBy('at', 'desc')
    .execute();
}

/** Notes that the sums of a span are packed. @param db a transaction @returns false where they are not kept any more */
export async function notePacked(db: Kysely<Tables>, { at, stepMs }: MissingSpan): Promise<boolean> {
  const noted = await db
    .updateTable('usage_spans')
    .set({ packed: 1 })
    .where('step_ms', '=', stepMs)
    .where('at', '=', at)
    .where('complete', '=', 1)
    .returning('at')
    .execute();
  return noted.length > 0;
}
