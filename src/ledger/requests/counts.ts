import { sql } from 'kysely';
import type { Condition, ListQuery } from '../../http/resource.ts';
import { GatewayError } from '../../lib/error.ts';
import { nthLargest } from '../../lib/largest.ts';
import type { Store } from '../../store/database.ts';
import { countedColumns, type ValueAttribute, valueAttributes } from '../counted-columns.ts';
import { ledgerSums, sumsOfKeys } from '../kept-sums/read.ts';
import { type CountedTime, type CountedValues, countedValues } from '../kept-sums/read-counts.ts';
import { amountBits } from '../kept-sums/value-counts.ts';
import { namesOf } from '../names.ts';
import { conditionOf } from '../page.ts';
import { type CountedAttribute, countedAttributes, type RequestCount } from '../schema.ts';
import type { LedgerReader } from '../sliced-sums.ts';
import { exact } from '../sums.ts';
import { timeOf } from './time-filter.ts';

type Groups = ListQuery['groups'];

/** Values of one attribute that are told one by one, when a query names no number. */
const DEFAULT_TOP = 10;
const MOST_TOP = 100;
/** Bars over time, at most. */
const MOST_STEPS = 60;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const stepsMs = [1, 5, 15, 60, 180, 360, 1440, 10_080, 40_320].map((minutes) => minutes * MINUTE_MS);

/** Which counts a query asks for. */
interface CountsQuery {
  by: readonly CountedAttribute[];
  top: number;
  groups: Groups;
}

/**
 * How many requests there are of each value that a filter leaves, the most first, and over time. What is filtered by an
 * attribute shows all of its values all the same, so that one can choose another.
 * @param now the end of time where the filter names none, in milliseconds since the epoch
 * @throws GatewayError `invalid_request` for what requests cannot be filtered by
 */
export async function requestCounts(
  store: LedgerReader,
  groups: Groups,
  now: number,
): Promise<RequestCount[]> {
  const query = countsQuery(groups);
  const countedBy = valueAttributes.filter((attribute) => query.by.includes(attribute));
  const filtered = countedBy.filter((attribute) => isFilteredBy(query.groups, attribute));
  const shared = countedBy.filter((attribute) => !filtered.includes(attribute));
  const counted = new Map<CountedAttribute, RequestCount[]>();
  const scans = [
    ...filtered.map((attribute) => ({ together: [attribute], within: without(query.groups, attribute) })),
    ...(shared.length === 0 ? [] : [{ together: shared, within: query.groups }]),
  ];
  for (const { together, within } of scans)
    for (const [attribute, counts] of await countsOf(store, together, within, { ...query, now }))
      counted.set(attribute, counts);
  const rows = countedBy.flatMap((attribute) => counted.get(attribute) ?? []);
  const overTime = query.by.includes('started_at') ? await timeCounts(store, query.groups, now) : [];
  return [...overTime, ...(await labelled(store, rows))];
}

function countsQuery(groups: Groups): CountsQuery {
  let by: readonly CountedAttribute[] = countedAttributes;
  let top = DEFAULT_TOP;
  const left = groups.map((group) =>
    group.filter((condition) => {
      if (condition.attribute === 'attribute') by = attributesIn(condition);
      else if (condition.attribute === 'top') top = topIn(condition);
      else return true;
      return false;
    }),
  );
  return { by, top, groups: left };
}

function attributesIn({ operator, value }: Condition): CountedAttribute[] {
  const names = typeof value === 'string' ? [value] : Array.isArray(value) ? value : [];
  const known = countedAttributes.filter((name) => names.includes(name));
  if (!operator.startsWith('=') || known.length === 0 || known.length < names.length)
    throw wrong(`attribute='status' or attribute=['status','client']: ${countedAttributes.join(', ')}`);
  return known;
}

function topIn({ operator, value }: Condition): number {
  const top = Number(value);
  if (operator === '=' && Number.isInteger(top) && top >= 1 && top <= MOST_TOP) return top;
  throw wrong(`top=10 names how many values of each are told: a whole number from 1 to ${MOST_TOP}`);
}

function isFilteredBy(groups: Groups, attribute: CountedAttribute): boolean {
  return groups.some((group) => group.some((condition) => condition.attribute === attribute));
}

function without(groups: Groups, attribute: CountedAttribute): Groups {
  return groups.map((group) => group.filter((condition) => condition.attribute !== attribute));
}

interface Tally {
  requests: number;
  failed: number;
  cost: number | null;
}

/** The counts of several attributes: kept ones where only the time is filtered by, else of the requests. */
async function countsOf(
  store: LedgerReader,
  attributes: readonly ValueAttribute[],
  groups: Groups,
  { now, top }: Pick<CountsQuery, 'top'> & { now: number },
): Promise<ReadonlyMap<CountedAttribute, RequestCount[]>> {
  const time = timeOf(groups);
  const kept =
    time === null ? null : await countedValues(store, attributes, { ...time, now, brief: 'requests' });
  if (time === null || kept === null) return valueCounts(store, attributes, groups, top);
  const counts = new Map<CountedAttribute, RequestCount[]>();
  for (const [attribute, values] of kept) {
    const first = await firstOf(attribute, values, top);
    counts.set(attribute, values.isBrief ? await withSums(store, first, time) : first);
  }
  return counts;
}

/** Counts of keys whose brief says nothing but how many requests they have, with what else their sums say. */
async function withSums(
  store: LedgerReader,
  first: readonly RequestCount[],
  { before, since }: CountedTime,
): Promise<RequestCount[]> {
  const query = { by: ['key'] as const, since: since ?? 0, ...(before === null ? {} : { before }) };
  const sums = await sumsOfKeys(
    store,
    query,
    first.map(({ value }) => value),
  );
  const byKey = new Map(sums.map((one) => [one.dimensions.key_id ?? null, one]));
  return first.map((one) => {
    const { costUsd = null, failed = 0 } = byKey.get(one.value) ?? {};
    return { ...one, failed, cost_usd: costUsd };
  });
}

/** The `top` values that most requests have; of those with as many the first by their letters. */
async function firstOf(
  attribute: ValueAttribute,
  { counts, valuesOf }: CountedValues,
  top: number,
): Promise<RequestCount[]> {
  const requestsAt = (index: number) => counts.requests[index] ?? 0;
  const least = nthLargest(counts.requests, top);
  const indexes: number[] = [];
  // Not by an array of all indexes: of keys there are 100,000.
  for (let index = 0; index < counts.requests.length; index += 1)
    if (requestsAt(index) >= least) indexes.push(index);
  const values = await valuesOf(indexes.map((index) => counts.numbers[index] ?? 0));
  const valueAt = (index: number) => values.get(counts.numbers[index] ?? 0) ?? null;
  return indexes
    .sort((a, b) => {
      const [one, other] = [valueAt(a) ?? '-', valueAt(b) ?? '-'];
      return requestsAt(b) - requestsAt(a) || (one < other ? -1 : 1);
    })
    .slice(0, top)
    .map((index) => {
      const isKnown = ((counts.known[index] ?? 0) & amountBits.cost) !== 0;
      return countOf(attribute, valueAt(index), {
        requests: requestsAt(index),
        failed: counts.failed[index] ?? 0,
        cost: isKnown ? (counts.costs[index] ?? 0) : null,
      });
    });
}

/** The counts of several attributes by one look at the requests, of each the `top` values that most requests have. */
async function valueCounts(
  { db }: Pick<Store, 'db'>,
  attributes: readonly ValueAttribute[],
  groups: Groups,
  top: number,
): Promise<Map<CountedAttribute, RequestCount[]>> {
  const { rows } = await valueCountsQuery(attributes, groups, top).execute(db);
  return new Map(
    attributes.map((attribute) => [
      attribute,
      rows
        .filter((row) => row.attribute === attribute)
        .map(({ value, ...row }) => countOf(attribute, value, added(noRequests, row))),
    ]),
  );
}

interface ValueCount extends Record<string, unknown> {
  attribute: string;
  value: string | null;
}

/** There may be as many groups as requests: each attribute is counted for itself, of a narrow copy of what the filter leaves. */
function valueCountsQuery(attributes: readonly ValueAttribute[], groups: Groups, top: number) {
  // All of one type, so that they can stand in one column.
  const values = attributes.map(
    (attribute) => sql`cast(${countedColumns[attribute]} as text) as ${sql.ref(attribute)}`,
  );
  const each = attributes.map(
    (attribute) => sql`select * from (
      select ${sql.lit(attribute)} as attribute, ${sql.ref(attribute)} as value, count(*) as requests,
        count(*) filter (where is_failed) as failed, sum(cast(cost_usd as numeric)) as cost
      from counted group by 2 order by 3 desc, coalesce(${sql.ref(attribute)}, '-') limit ${sql.lit(top)}
    ) as of_${sql.raw(attribute)}`,
  );
  return sql<ValueCount>`with counted as materialized (
      select ${sql.join(values)}, outcome = 'failed' as is_failed, cost_usd from requests
      where ${conditionOf(groups) ?? sql`true`}
    ) ${sql.join(each, sql` union all `)}`;
}

/** The counts over time, in equal steps of UTC without gaps; none where there are no requests. */
async function timeCounts(store: LedgerReader, groups: Groups, now: number): Promise<RequestCount[]> {
  const bounds = groups.length === 1 ? boundsIn(groups[0] ?? []) : { since: null, before: null };
  const end = bounds.before ?? now;
  const since = bounds.since ?? (await firstTime(store, groups)) ?? end;
  const step = stepsMs.find((ms) => (end - since) / ms <= MOST_STEPS) ?? Number(stepsMs.at(-1));
  const time = timeOf(groups);
  const byStart =
    time !== null && step % HOUR_MS === 0
      ? await keptSteps(store, time, step)
      : await scannedSteps(store, groups, step);
  if (byStart.size === 0) return [];
  const first = Math.max(Math.floor(since / step), Math.floor(end / step) - 10 * MOST_STEPS) * step;
  const counts: RequestCount[] = [];
  for (let start = first; start < Math.max(end, first + 1); start += step) {
    const tally = byStart.get(start) ?? noRequests;
    counts.push({
      ...countOf('started_at', new Date(start).toISOString(), tally),
      to: new Date(start + step).toISOString(),
    });
  }
  return counts;
}

/** The times between which the requests of a filter began, in milliseconds since the epoch. */
function boundsIn(group: readonly Condition[]): { since: number | null; before: number | null } {
  let since: number | null = null;
  let before: number | null = null;
  for (const { attribute, operator, value } of group) {
    const at = attribute === 'started_at' && typeof value === 'string' ? Date.parse(value) : Number.NaN;
    if (Number.isNaN(at)) continue;
    if (operator.startsWith('>')) since = Math.max(since ?? at, at);
    if (operator.startsWith('<')) before = Math.min(before ?? at, at);
  }
  return { since, before };
}

async function firstTime({ db }: Pick<Store, 'db'>, groups: Groups): Promise<number | null> {
  let select = db.selectFrom('requests').select(({ fn }) => fn.min('started_at').as('first'));
  const condition = conditionOf(groups);
  if (condition !== null) select = select.where(condition);
  return (await select.executeTakeFirst())?.first ?? null;
}

/** By where steps of time begin, which are whole hours of UTC: kept sums as far as there are some. */
async function keptSteps(
  store: LedgerReader,
  { before, since }: CountedTime,
  step: number,
): Promise<ReadonlyMap<number, Tally>> {
  const by = step % DAY_MS === 0 ? 'day' : 'hour';
  const query = { by: [by] as const, since: since ?? 0, ...(before === null ? {} : { before }) };
  const steps = new Map<number, Tally>();
  for (const { costUsd, failed, period, requests } of await ledgerSums(store, query)) {
    const start = Math.floor((period ?? 0) / step) * step;
    steps.set(start, added(steps.get(start) ?? noRequests, { requests, failed, cost: costUsd }));
  }
  return steps;
}

async function scannedSteps(
  { db }: Pick<Store, 'db'>,
  groups: Groups,
  step: number,
): Promise<ReadonlyMap<number, Tally>> {
  const condition = conditionOf(groups);
  let select = db
    .selectFrom('requests')
    .select([
      sql<number>`started_at / ${sql.lit(step)} * ${sql.lit(step)}`.as('start'),
      sql<number>`count(*)`.as('requests'),
      sql<number>`count(*) filter (where outcome = 'failed')`.as('failed'),
      sql<number | null>`sum(cast(cost_usd as numeric))`.as('cost'),
    ])
    .groupBy(sql.lit(1));
  if (condition !== null) select = select.where(condition);
  return new Map((await select.execute()).map((row) => [row.start, added(noRequests, row)]));
}

const noRequests: Tally = { requests: 0, failed: 0, cost: null };

function added(tally: Tally, row: Readonly<Record<string, unknown>>): Tally {
  const cost = row['cost'];
  return {
    requests: tally.requests + Number(row['requests'] ?? 0),
    failed: tally.failed + Number(row['failed'] ?? 0),
    cost: typeof cost === 'number' ? (tally.cost ?? 0) + cost : tally.cost,
  };
}

function countOf(attribute: CountedAttribute, value: string | null, tally: Tally): RequestCount {
  return {
    id: `${attribute}:${value ?? '-'}`,
    attribute,
    value,
    label: value,
    to: null,
    requests: tally.requests,
    failed: tally.failed,
    cost_usd: tally.cost === null ? null : exact(tally.cost),
  };
}

/** With the names of keys in the place of their ids. */
async function labelled(store: Pick<Store, 'db'>, rows: readonly RequestCount[]): Promise<RequestCount[]> {
  const ids = rows.filter(({ attribute }) => attribute === 'key_id').map(({ value }) => value);
  const names = ids.length === 0 ? null : await namesOf(store, 'keys', ids);
  return rows.map((row) =>
    row.attribute === 'key_id' ? { ...row, label: names?.get(row.value) ?? null } : row,
  );
}

function wrong(problem: string): GatewayError {
  return new GatewayError('invalid_request', `filter[]: ${problem}`, { param: 'filter[]' });
}
