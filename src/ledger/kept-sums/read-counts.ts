import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import type { ValueAttribute } from '../counted-columns.ts';
import type { LedgerReader } from '../sliced-sums.ts';
import { blobColumn, bytesOf } from './blob.ts';
import { briefOf, type CountResult, countedIn, sorted } from './count-values.ts';
import type { MissingSpan } from './missing.ts';
import { rolledCountsOf, validRollups } from './rollups.ts';
import { DAY_MS, HOUR_MS, rollupSteps, rollupStepsBetween } from './sets.ts';
import { type Brief, type CountsSum, createCountsSum, type ValueCounts } from './value-counts.ts';

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
/** Spans in one query: some megabytes. */
const SPANS_AT_ONCE = 8;

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
  const steps = rollupSteps.map(({ stepMs }) => stepMs);
  const end = time.before === null ? {} : { before: time.before };
  const rollups = await validRollups(store.db, steps, { since: time.since ?? 0, ...end });
  const sums = new Map<ValueAttribute, SpansSum>();
  for (const attribute of attributes)
    sums.set(
      attribute,
      await sumOfSpans(store, attribute, { hours, rollups }, attribute === 'key_id' ? brief : undefined),
    );
  const inGaps = sql.join(
    gaps.map(({ before, since }) =>
      before === null
        ? sql`started_at >= ${since}`
        : sql`(started_at >= ${since} and started_at < ${before})`,
    ),
    sql` or `,
  );
  const countedAs = [...sums].map(([attribute, { brief }]) => ({ attribute, brief }));
  const rest = gaps.length === 0 ? [] : await countedIn(store.db, store.kind, countedAs, sql`(${inGaps})`);
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

interface CountedSpans {
  hours: readonly number[];
  /** Longer spans that there are counts of. */
  rollups: readonly MissingSpan[];
}

interface SpansSum {
  sum: CountsSum;
  /** Whose columns alone are complete, where some of the counts were briefs. */
  brief: Brief | null;
}

/** Adds up the counts of hours: of longer spans where there are some, and of these the longest. */
async function sumOfSpans(
  store: LedgerReader,
  attribute: ValueAttribute,
  { hours, rollups }: CountedSpans,
  brief: Brief | undefined,
): Promise<SpansSum> {
  const sum = createCountsSum();
  const left = new Set(hours);
  let added: Brief | null = null;
  const addFrom = async (name: string, stepMs: number, starts: readonly number[], ofBrief?: Brief) => {
    const whole = starts.filter((at) => hoursOf(at, stepMs).every((hour) => left.has(hour)));
    for (let start = 0; start < whole.length; start += SPANS_AT_ONCE)
      for (const { at, counts } of await countsAt(
        store,
        name,
        stepMs,
        whole.slice(start, start + SPANS_AT_ONCE),
      )) {
        sum.addBytes(bytesOf(counts), ofBrief);
        for (const hour of hoursOf(at, stepMs)) left.delete(hour);
        added = ofBrief ?? added;
        await setImmediate();
      }
  };
  const addRollups = async (stepMs: number) => {
    const starts = rollups.filter((one) => one.stepMs === stepMs).map(({ at }) => at);
    const rolled = rolledCountsOf(attribute, stepMs);
    const fitting =
      rolled.find((one) => one.brief === brief) ?? rolled.find((one) => one.brief === undefined);
    if (fitting !== undefined) await addFrom(fitting.name, stepMs, starts, fitting.brief);
  };
  for (const stepMs of rollupStepsBetween(DAY_MS, Number.POSITIVE_INFINITY)) await addRollups(stepMs);
  const days = () => [...new Set([...left].map((at) => Math.floor(at / DAY_MS) * DAY_MS))];
  if (brief !== undefined) await addFrom(briefOf(attribute, brief), DAY_MS, days(), brief);
  await addFrom(attribute, DAY_MS, days());
  for (const stepMs of rollupStepsBetween(HOUR_MS, DAY_MS)) await addRollups(stepMs);
  await addFrom(attribute, HOUR_MS, [...left]);
  return { sum, brief: added };
}

/** The hours of a span. */
function hoursOf(at: number, stepMs: number): number[] {
  return Array.from({ length: stepMs / HOUR_MS }, (_, index) => at + index * HOUR_MS);
}

function countsAt(
  { db, kind }: LedgerReader,
  name: string,
  stepMs: number,
  starts: readonly number[],
): Promise<{ at: number; counts: string | Uint8Array }[]> {
  return db
    .selectFrom('value_counts')
    .select(['at', blobColumn(kind, 'counts').as('counts')])
    .where('attribute', '=', name)
    .where('step_ms', '=', stepMs)
    .where('at', 'in', starts)
    .execute();
}

/** Adds what was counted of requests. Values that have no number yet get one for the time being. */
function withRest(
  { db }: LedgerReader,
  { brief, sum }: SpansSum,
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
    isBrief: brief !== null,
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
