import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import type { ValueAttribute } from '../counted-columns.ts';
import type { LedgerReader } from '../sliced-sums.ts';
import { countedIn, type FoundCounts, sorted } from './count-values.ts';
import { DAY_MS, HOUR_MS } from './sets.ts';
import { type CountsSum, createCountsSum, decodeCounts, type ValueCounts } from './value-counts.ts';

/** Requests that began at or after `since` and before `before`, in milliseconds since the epoch; null: of all times. */
export interface CountedTime {
  since: number | null;
  before: number | null;
}

/** The counts of one attribute. */
export interface CountedValues {
  counts: ValueCounts;
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
 * @param now milliseconds since the epoch
 */
export async function countedValues(
  store: LedgerReader,
  attributes: readonly ValueAttribute[],
  time: CountedTime,
  now: number,
): Promise<ReadonlyMap<ValueAttribute, CountedValues> | null> {
  const hours = await countedHours(store, time);
  const gaps = gapsIn(await withFirst(store, time), hours);
  const uncountedMs = gaps.reduce((sum, { before, since }) => sum + Math.max(0, (before ?? now) - since), 0);
  if (hours.length === 0 || uncountedMs > Math.max(MOST_UNCOUNTED_MS, (hours.length * HOUR_MS) / 2))
    return null;
  const sums = new Map<ValueAttribute, CountsSum>();
  for (const attribute of attributes) sums.set(attribute, await sumOfSpans(store, attribute, hours));
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

/** Adds up the counts of hours, and of their days where these have some. */
async function sumOfSpans(
  { db }: LedgerReader,
  attribute: ValueAttribute,
  hours: readonly number[],
): Promise<CountsSum> {
  const sum = createCountsSum();
  const byDay = Map.groupBy(hours, (at) => Math.floor(at / DAY_MS) * DAY_MS);
  const whole = [...byDay].filter(([, { length }]) => length === DAY_MS / HOUR_MS).map(([day]) => day);
  const left = new Set(byDay.keys());
  const addSpans = async (stepMs: number, since: number, before: number) => {
    const rows = await db
      .selectFrom('value_counts')
      .select(['at', 'counts'])
      .where('attribute', '=', attribute)
      .where('step_ms', '=', stepMs)
      .where('at', '>=', since)
      .where('at', '<', before)
      .execute();
    const wanted = rows.filter(({ at }) => (stepMs === DAY_MS ? whole.includes(at) : hours.includes(at)));
    for (const { at, counts } of wanted) {
      sum.add(decodeCounts(counts));
      if (stepMs === DAY_MS) left.delete(at);
      await setImmediate();
    }
  };
  for (let start = 0; start < whole.length; start += DAYS_AT_ONCE) {
    const some = whole.slice(start, start + DAYS_AT_ONCE);
    await addSpans(DAY_MS, Number(some[0]), Number(some.at(-1)) + DAY_MS);
  }
  for (const day of left) await addSpans(HOUR_MS, day, day + DAY_MS);
  return sum;
}

/** Adds what was counted of requests. Values that have no number yet get one for the time being. */
function withRest({ db }: LedgerReader, sum: CountsSum, rest: FoundCounts | undefined): CountedValues {
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
