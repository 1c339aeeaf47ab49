import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import type { ValueAttribute } from '../counted-columns.ts';
import type { LedgerReader } from '../sliced-sums.ts';
import { blobColumn, bytesOf } from './blob.ts';
import { briefOf, type CountResult, countedIn, sorted } from './count-values.ts';
import { DAY_MS, HOUR_MS } from './sets.ts';
import {
  type Brief,
  type CountsSum,
  createCountsSum,
  decodeBrief,
  decodeCounts,
  type ValueCounts,
} from './value-counts.ts';

/** Requests that began at or after `since` and before `before`, in milliseconds since the epoch; null: of all times. */
export interface CountedTime {
  since: number | null;
  before: number | null;
}

export interface CountsQuery extends CountedTime {
  /** The end of the time where `before` is null, in milliseconds since the epoch. */
  now: number;
  /** Of attributes with very many values the counts for a purpose are enough, if there are some. Default: all counts. */
  brief?: Brief;
}

/** The counts of one attribute. */
export interface CountedValues {
  counts: ValueCounts;
  /** Whether only the columns of a brief are complete. */
  isBrief: boolean;
  /** The values of some of the numbers. */
  valuesOf(numbers: readonly number[]): Promise<ReadonlyMap<number, string | null>>;
}

/** Of so much time without counts the requests are read, or of as much as half of the time that there are counts of. */
const MOST_UNCOUNTED_MS = 3 * HOUR_MS;
/** Days in one query: some megabytes. */
const DAYS_AT_ONCE = 8;

/**
 * How often the values of attributes occur among the requests of a time: added up from the counts of hours and days, and counted of the
 * requests for the times between. Null where there are too few counts.
 */
export async function countedValues(
  store: LedgerReader,
  attributes: readonly ValueAttribute[],
  { brief, now, ...time }: CountsQuery,
): Promise<ReadonlyMap<ValueAttribute, CountedValues> | null> {
  const hours = await countedHours(store, time);
  const gaps = gapsIn(await withFirst(store, time), hours);
  const uncountedMs = gaps.reduce((sum, { before, since }) => sum + Math.max(0, (before ?? now) - since), 0);
  if (hours.length === 0 || uncountedMs > Math.max(MOST_UNCOUNTED_MS, (hours.length * HOUR_MS) / 2))
    return null;
  const sums = new Map<ValueAttribute, SpansSum>();
  for (const attribute of attributes)
    sums.set(
      attribute,
      await sumOfSpans(store, attribute, hours, attribute === 'key_id' ? brief : undefined),
    );
  const inGaps = sql.join(
    gaps.map(({ before, since }) =>
      before === null
        ? sql`started_at >= ${since}`
        : sql`(started_at >= ${since} and started_at < ${before})`,
    ),
    sql` or `,
  );
  const rest = gaps.length === 0 ? [] : await countedIn(store.db, store.kind, attributes, sql`(${inGaps})`);
  const counted = new Map<ValueAttribute, CountedValues>();
  for (const [attribute, sum] of sums)
    counted.set(
      attribute,
      withRest(
        store,
        sum,
        rest.find((one) => one.attribute === attribute),
      ),
    );
  return counted;
}

/** The hours that are counted, ascending. */
async function countedHours({ db }: LedgerReader, { before, since }: CountedTime): Promise<number[]> {
  let select = db
    .selectFrom('usage_spans')
    .select('at')
    .where('step_ms', '=', HOUR_MS)
    .where('complete', '=', 1)
    .where('counted', '>', 0);
  if (since !== null) select = select.where('at', '>=', since);
  if (before !== null) select = select.where('at', '<=', before - HOUR_MS);
  return (await select.orderBy('at').execute()).map(({ at }) => at);
}

interface Gap {
  since: number;
  before: number | null;
}

/** From the first request on where nothing else is said. */
async function withFirst({ db }: LedgerReader, { before, since }: CountedTime): Promise<Gap> {
  let select = db.selectFrom('requests').select('started_at');
  if (since !== null) select = select.where('started_at', '>=', since);
  const first = await select.orderBy('started_at').limit(1).executeTakeFirst();
  return { since: Math.max(since ?? 0, first?.started_at ?? 0), before };
}

/** The times that are not counted. @param hours ascending */
function gapsIn({ before, since }: Gap, hours: readonly number[]): Gap[] {
  const gaps: Gap[] = [];
  let from = since;
  for (const at of hours) {
    if (from < at) gaps.push({ since: from, before: at });
    from = Math.max(from, at + HOUR_MS);
  }
  if (before === null || from < before) gaps.push({ since: from, before });
  return gaps;
}

interface SpansSum {
  sum: CountsSum;
  isBrief: boolean;
}

/** Adds up the counts of hours, and of their days where these have some. */
async function sumOfSpans(
  { db, kind }: LedgerReader,
  attribute: ValueAttribute,
  hours: readonly number[],
  brief: Brief | undefined,
): Promise<SpansSum> {
  const sum = createCountsSum();
  const isWanted = new Set(hours);
  const byDay = Map.groupBy(hours, (at) => Math.floor(at / DAY_MS) * DAY_MS);
  const whole = new Set(
    [...byDay].filter(([, { length }]) => length === DAY_MS / HOUR_MS).map(([day]) => day),
  );
  const left = new Set(byDay.keys());
  const addSpans = async (
    name: string,
    stepMs: number,
    { before, since }: { since: number; before: number },
  ) => {
    const rows = await db
      .selectFrom('value_counts')
      .select(['at', blobColumn(kind, 'counts').as('counts')])
      .where('attribute', '=', name)
      .where('step_ms', '=', stepMs)
      .where('at', '>=', since)
      .where('at', '<', before)
      .execute();
    let added = 0;
    for (const { at, counts } of rows) {
      if (stepMs === DAY_MS ? !whole.has(at) || !left.has(at) : !isWanted.has(at)) continue;
      sum.add(name === attribute ? decodeCounts(bytesOf(counts)) : decodeBrief(bytesOf(counts)));
      added += 1;
      if (stepMs === DAY_MS) left.delete(at);
      await setImmediate();
    }
    return added;
  };
  const addDays = async (name: string): Promise<number> => {
    let added = 0;
    const days = [...left].filter((day) => whole.has(day)).sort((one, other) => one - other);
    for (let start = 0; start < days.length; start += DAYS_AT_ONCE) {
      const some = days.slice(start, start + DAYS_AT_ONCE);
      added += await addSpans(name, DAY_MS, { since: Number(some[0]), before: Number(some.at(-1)) + DAY_MS });
    }
    return added;
  };
  const briefDays = brief === undefined ? 0 : await addDays(briefOf(attribute, brief));
  await addDays(attribute);
  for (const day of left) await addSpans(attribute, HOUR_MS, { since: day, before: day + DAY_MS });
  return { sum, isBrief: briefDays > 0 };
}

/** Adds what was counted of requests. Values that have no number yet get one for the time being. */
function withRest(
  { db }: LedgerReader,
  { isBrief, sum }: SpansSum,
  rest: CountResult | undefined,
): CountedValues {
  const unnumbered = new Map<number, string>();
  if (rest !== undefined) {
    let next = Math.max(sum.size(), ...rest.counts.numbers.map((number) => (number ?? 0) + 1));
    const numbers = rest.counts.numbers.map((number, index) => {
      if (number !== null) return number;
      unnumbered.set(next, rest.unnumbered[index] ?? '');
      next += 1;
      return next - 1;
    });
    sum.add(sorted({ ...rest.counts, numbers: numbers }));
  }
  return {
    counts: sum.sum(),
    isBrief,
    async valuesOf(numbers) {
      const values = new Map<number, string | null>([[0, null], ...unnumbered]);
      const wanted = numbers.filter((number) => !values.has(number));
      const rows = await sql<{ number: number; value: string }>`select number, value from counted_values
        where number in (select cast(value as integer) from json_each(${JSON.stringify(wanted)}))`.execute(
        db,
      );
      for (const { number, value } of rows.rows) values.set(number, value);
      return values;
    },
  };
}
