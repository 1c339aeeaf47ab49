import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Store } from '../../store/database.ts';
import type { Tables } from '../../store/tables.ts';
import { inputColumns, outputColumns } from '../buckets.ts';
import { countedColumns, type ValueAttribute, valueAttributes } from '../counted-columns.ts';
import { DAY_MS, HOUR_MS } from './sets.ts';
import {
  amountBits,
  type Brief,
  briefs,
  createCountsSum,
  encodeBrief,
  encodeCounts,
  type ValueCounts,
} from './value-counts.ts';

type Db = Kysely<Tables>;

/** What is counted of the requests of a span of time, by attribute. */
export type CountedSpan = ReadonlyMap<string, Uint8Array>;

/** Gives numbers to the values of an hour's requests that have none yet. Whoever writes does so alone, so no value gets two. */
export async function numberValues(db: Db, at: number): Promise<void> {
  const each = valueAttributes.map(
    (attribute) =>
      sql`select distinct cast(${countedColumns[attribute]} as text) as value from requests where ${inHour(at)}`,
  );
  await sql`insert into counted_values (value)
    select value from (${sql.join(each, sql` union `)}) as found
    where value is not null and not exists (
      select 1 from counted_values as counted
      where substr(counted.value, 1, 200) = substr(found.value, 1, 200) and counted.value = found.value
    )`.execute(db);
}

/** Counts the values of an hour's requests, which have numbers. @param at when it begins, in milliseconds since the epoch */
export async function countHour(db: Db, kind: Store['kind'], at: number): Promise<CountedSpan> {
  const all = valueAttributes.map((attribute) => ({ attribute, brief: null }));
  const counted = await countedIn(db, kind, all, inHour(at));
  return new Map(counted.map(({ attribute, counts }) => [attribute, encodeCounts(sorted(counts))]));
}

/** The counts of one attribute as a query has them: in no order, and with null for the number of a value that has none. */
export interface CountResult {
  attribute: ValueAttribute;
  counts: CountColumns & { readonly numbers: readonly (number | null)[] };
  /** The values that have no number, at their places. */
  unnumbered: readonly (string | null)[];
}

type CountColumns = Readonly<Record<Exclude<keyof ValueCounts, 'numbers'>, readonly number[]>>;

/** An attribute whose values are counted; with a brief, the columns that are not in it are 0. */
export interface CountedAs {
  attribute: ValueAttribute;
  brief: Brief | null;
}

/** Counts the values of the requests for which a condition holds. */
export async function countedIn(
  db: Db,
  kind: Store['kind'] | undefined,
  attributes: readonly CountedAs[],
  condition: RawBuilder<unknown>,
): Promise<CountResult[]> {
  const { rows } = await countsQuery(kind, attributes, condition).execute(db);
  return rows.map(({ attribute, unnumbered, ...columns }) => ({
    attribute,
    counts: {
      numbers: JSON.parse(columns.numbers),
      requests: JSON.parse(columns.requests),
      failed: JSON.parse(columns.failed),
      costs: JSON.parse(columns.costs),
      tokens: JSON.parse(columns.tokens),
      known: JSON.parse(columns.known),
    },
    unnumbered: JSON.parse(unnumbered),
  }));
}

/** The same counts by ascending number. */
export function sorted(counts: CountResult['counts']): ValueCounts {
  const { numbers } = counts;
  const order = numbers.map((_, index) => index).sort((a, b) => (numbers[a] ?? 0) - (numbers[b] ?? 0));
  const column = (name: keyof ValueCounts) => Float64Array.from(order, (index) => counts[name][index] ?? 0);
  return {
    numbers: column('numbers'),
    requests: column('requests'),
    failed: column('failed'),
    costs: column('costs'),
    tokens: column('tokens'),
    known: column('known'),
  };
}

/** Its columns are JSON arrays, an element for each value. */
interface CountsRow extends Record<keyof ValueCounts | 'unnumbered', string> {
  attribute: ValueAttribute;
}

const inHour = (at: number) => sql`started_at >= ${sql.lit(at)} and started_at < ${sql.lit(at + HOUR_MS)}`;

const bits = sql.join(
  [
    [amountBits.cost, sql`cost_usd is not null`],
    [amountBits.cacheSavings, sql`cache_savings_usd is not null`],
    [amountBits.billed, sql`cost_usd is not null and on_plan = 0`],
    [amountBits.plan, sql`cost_usd is not null and on_plan = 1`],
    [amountBits.routingSavings, sql`routing_savings_usd is not null`],
  ].map(([bit, isKnown]) => sql`max(case when ${isKnown} then ${sql.lit(bit)} else 0 end)`),
  sql` + `,
);

/** What is counted of each value, by column. */
const amounts = {
  requests: sql`count(*)`,
  failed: sql`count(*) filter (where outcome_of = 'failed')`,
  costs: sql`coalesce(sum(cast(cost_usd as numeric)), 0)`,
  tokens: sql`sum(tokens)`,
  known: bits,
} as const satisfies Record<keyof CountColumns, RawBuilder<unknown>>;

function amountsFor(brief: Brief | null): RawBuilder<unknown> {
  const names: readonly string[] = brief === null ? Object.keys(amounts) : briefs[brief];
  return sql.join(
    Object.entries(amounts).map(
      ([name, amount]) => sql`${names.includes(name) ? amount : sql`0`} as ${sql.ref(name)}`,
    ),
  );
}

function countsQuery(
  kind: Store['kind'] | undefined,
  attributes: readonly CountedAs[],
  condition: RawBuilder<unknown>,
) {
  const values = attributes.map(
    ({ attribute }) => sql`cast(${countedColumns[attribute]} as text) as ${sql.ref(attribute)}`,
  );
  const tokens = sql.join(
    [...inputColumns, ...outputColumns].map((column) => sql`coalesce(${sql.ref(column)}, 0)`),
    sql` + `,
  );
  const list = (column: string) =>
    kind === 'postgres'
      ? sql`cast(json_agg(${sql.ref(column)}) as text) as ${sql.ref(column)}`
      : sql`json_group_array(${sql.ref(column)}) as ${sql.ref(column)}`;
  const lists = sql.join(
    ['numbers', 'requests', 'failed', 'costs', 'tokens', 'known', 'unnumbered'].map(list),
  );
  const each = attributes.map(
    ({ attribute, brief }) => sql`select ${sql.lit(attribute)} as attribute, ${sql.ref(attribute)} as value,
      ${amountsFor(brief)} from counted group by 2`,
  );
  // Each number is looked up by itself, by an index: joined, a server would read all numbers that there are, one for each key.
  // Materialized, because it would look up each twice.
  return sql<CountsRow>`with counted as materialized (
      select ${sql.join(values)}, outcome as outcome_of, cost_usd, cache_savings_usd, routing_savings_usd, on_plan,
        ${tokens} as tokens
      from requests where ${condition}
    ),
    found as materialized (
      select each_value.*, (
        select counted_values.number from counted_values
        where substr(counted_values.value, 1, 200) = substr(each_value.value, 1, 200)
          and counted_values.value = each_value.value
      ) as number
      from (${sql.join(each, sql` union all `)}) as each_value
    )
    select attribute, ${lists} from (
      select attribute, case when value is null then 0 else number end as numbers,
        requests, failed, costs, tokens, known, case when number is null then value end as unnumbered
      from found
    ) as numbered group by attribute`;
}

/**
 * Puts the counts of an hour in the place of earlier ones, and takes those of its day out of force, which were made of them.
 * @param db a transaction
 */
export async function replaceCounts(db: Db, at: number, counted: CountedSpan): Promise<void> {
  const day = Math.floor(at / DAY_MS) * DAY_MS;
  await db
    .deleteFrom('value_counts')
    .where((where) =>
      where.or([where.and({ step_ms: HOUR_MS, at }), where.and({ step_ms: DAY_MS, at: day })]),
    )
    .execute();
  await insertCounts(db, HOUR_MS, at, counted);
}

async function insertCounts(db: Db, stepMs: number, at: number, counted: CountedSpan): Promise<void> {
  // One by one: a worker's statement has its bytes copied.
  for (const [attribute, counts] of counted)
    await db.insertInto('value_counts').values({ attribute, step_ms: stepMs, at, counts }).execute();
}

/** The days all of whose hours are counted, and that are not, the latest first. In milliseconds since the epoch. */
export async function uncountedDays(db: Db): Promise<number[]> {
  const hours = await db
    .selectFrom('usage_spans')
    .select('at')
    .where('step_ms', '=', HOUR_MS)
    .where('complete', '=', 1)
    .where('counted', '>', 0)
    .execute();
  const counted = await db
    .selectFrom('value_counts')
    .select('at')
    // Of an earlier version there may be days without briefs.
    .where('attribute', '=', briefOf('key_id', 'requests'))
    .where('step_ms', '=', DAY_MS)
    .execute();
  const done = new Set(counted.map(({ at }) => at));
  const days = Map.groupBy(hours, ({ at }) => Math.floor(at / DAY_MS) * DAY_MS);
  return [...days]
    .filter(([day, { length }]) => length === DAY_MS / HOUR_MS && !done.has(day))
    .map(([day]) => day)
    .sort((one, other) => other - one);
}

/**
 * Adds up the counts of the hours of a day.
 * @param db a transaction
 * @returns false where hours of it are not counted any more
 */
export async function countDay(db: Db, day: number): Promise<boolean> {
  // Not just a look: on a server, whoever changes one of them meanwhile would not be noticed.
  const hours = await db
    .updateTable('usage_spans')
    .set({ counted: sql`counted` })
    .where('step_ms', '=', HOUR_MS)
    .where('at', '>=', day)
    .where('at', '<', day + DAY_MS)
    .where('complete', '=', 1)
    .where('counted', '>', 0)
    .returning('at')
    .execute();
  if (hours.length < DAY_MS / HOUR_MS) return false;
  const counted = new Map<string, Uint8Array>();
  for (const attribute of valueAttributes) {
    const sum = createCountsSum();
    const rows = await db
      .selectFrom('value_counts')
      .select('counts')
      .where('attribute', '=', attribute)
      .where('step_ms', '=', HOUR_MS)
      .where('at', '>=', day)
      .where('at', '<', day + DAY_MS)
      .execute();
    for (const { counts } of rows) sum.addBytes(counts);
    const counts = sum.sum();
    counted.set(attribute, encodeCounts(counts));
    if (attribute === 'key_id')
      for (const brief of ['requests', 'costs'] as const)
        counted.set(briefOf(attribute, brief), encodeBrief(counts, brief));
  }
  await db.deleteFrom('value_counts').where('step_ms', '=', DAY_MS).where('at', '=', day).execute();
  await insertCounts(db, DAY_MS, day, counted);
  return true;
}

/** What the brief of the counts of an attribute is found by, of days alone. There are so many values of keys only. */
export function briefOf(attribute: ValueAttribute, brief: Brief): string {
  return `${attribute}/${brief}`;
}
