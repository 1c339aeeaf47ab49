import { type RawBuilder, sql } from 'kysely';
import type { Store } from '../store/database.ts';
import { type BucketName, buckets, inputColumns, outputColumns } from './buckets.ts';
import type { Grouping, LabelGrouping } from './groupings.ts';
import { eachTag, hasTag, tagValue } from './tag-column.ts';
import { timeBuckets, timeGroupingIn } from './time-buckets.ts';

/** What requests can be narrowed to, and grouped by. */
export type Dimension = NamedDimension | LabelGrouping;

type NamedDimension = keyof typeof columnOf;

export interface SumsQuery {
  /** Groups within groups, of which one at most is by time; none: all in one. */
  by: readonly Grouping[];
  /** Requests that began at or after `since` and before `before`, in milliseconds since the epoch. */
  since: number;
  before?: number;
  /** Whose hours and days are meant, a name of the IANA database; default UTC. */
  timeZone?: string;
  /** Only requests of these. */
  only?: Partial<Record<Dimension, string>>;
  /** Only requests of one of these keys, or of no key where this is null alone. */
  keys?: readonly (string | null)[];
}

/** The sums of one group. */
export interface Sums {
  /** Where the hour, day, week or month begins, in milliseconds since the epoch, where grouped by one. */
  period: number | null;
  /** What the group was made by; null for the other dimensions, and where it was not known. */
  dimensions: Readonly<Partial<Record<Dimension, string | null>>>;
  requests: number;
  failed: number;
  aborted: number;
  estimated: number;
  /** Requests that used something whose cost is not known. */
  unpriced: number;
  /** Input and output tokens of those. */
  unpricedTokens: number;
  /** Sum of the known costs, exact to the millionth of a micro-dollar; null when there were requests and none had a known cost. */
  costUsd: number | null;
  /** Sum of what is known of the savings of prompt caches, as exact; null when there were requests and none is known. */
  cacheSavingsUsd: number | null;
  /** The part of the cost that providers charge, and the part that plans at a fixed price are worth, as exact. */
  billedUsd: number | null;
  planUsd: number | null;
  /** Sum of what is known of what combos saved against their first targets, as exact. */
  routingSavingsUsd: number | null;
  inputTokens: number;
  outputTokens: number;
  usage: Record<BucketName, number>;
  /** Of all requests together. */
  durationMs: number;
  /** Of those that had a first byte, and how many did. */
  ttftMs: number;
  ttftCount: number;
}

/** What each dimension is of a request. */
const columnOf = {
  provider: sql`requests.provider`,
  model: sql`requests.model`,
  connection: sql`requests.connection`,
  // As an expression: grouped by the column itself, SQLite walks the whole index by key, also for the last minute.
  key_id: sql`coalesce(requests.key_id, null)`,
  combo_id: sql`requests.combo_id`,
  owner: tagValue('owner'),
  team: tagValue('team'),
  tag: sql`each_tag.value`,
  format: sql`requests.format`,
  outcome: sql`requests.outcome`,
  tier: sql`requests.served_tier`,
  session: sql`requests.session`,
} satisfies Record<string, RawBuilder<unknown>>;

function dimensionsOf(grouping: Grouping): readonly Dimension[] {
  switch (grouping) {
    case 'hour':
    case 'day':
    case 'week':
    case 'month':
      return [];
    case 'model':
      return ['provider', 'model'];
    case 'key':
      return ['key_id'];
    case 'combo':
      return ['combo_id'];
    default:
      return [grouping];
  }
}

function isLabel(dimension: Dimension): dimension is LabelGrouping {
  return dimension.startsWith('label:');
}

function expressionOf(dimension: Dimension): RawBuilder<unknown> {
  return isLabel(dimension) ? tagValue(dimension.slice('label:'.length)) : columnOf[dimension];
}

/**
 * Sums over requests, one for each group that there is; without a grouping exactly one. The process does nothing else
 * meanwhile: a million requests take seconds.
 */
export async function sumsOf(store: Pick<Store, 'db'>, query: SumsQuery): Promise<Sums[]> {
  const keys = keyColumns(query);
  let select = summing(store.db, query, keys, (measure) => measure.as);
  if (keys.length > 0) select = select.orderBy(sql`${sql.join(keys.map((_, index) => sql.lit(index + 1)))}`);
  const rows = await select.execute();
  const period = periodOf(query);
  const groups: SumGroups = new Map();
  addSums(
    groups,
    rows.map((row) => toSums(row, query.by, period)),
  );
  return [...groups.values()];
}

/**
 * The query for sums under the names of the columns that they are kept in.
 * @param everyMs groups by time too, by the multiples of so many milliseconds since the epoch; the first column is where they begin
 */
export function sumColumns(db: Store['db'], query: SumsQuery, everyMs: number | null = null) {
  const keys = [...(everyMs === null ? [] : [periodColumn(everyMs)]), ...keyColumns(query)];
  return {
    select: summing(db, query, keys, (measure) => measure.sumColumn),
    columns: [...keys.map(({ as }) => as), ...measures.map(({ sumColumn }) => sumColumn)],
  };
}

function summing(
  db: Store['db'],
  { before, by, keys: ofKeys, only = {}, since }: SumsQuery,
  keys: readonly Column[],
  nameOf: (measure: (typeof measures)[number]) => string,
) {
  const from = db.selectFrom('requests');
  let select = (by.includes('tag') ? from.innerJoin(eachTag.as('each_tag'), (join) => join.onTrue()) : from)
    .where('started_at', '>=', since)
    .select([
      ...keys.map(({ as, value }) => value.as(as)),
      ...measures.map((measure) => measure.value.as(nameOf(measure))),
    ]);
  if (before !== undefined) select = select.where('started_at', '<', before);
  for (const [dimension, value] of Object.entries(only))
    if (value !== undefined) select = select.where(testOf(dimension as Dimension, value));
  if (ofKeys !== undefined) select = select.where(isOneOf(sql.ref('requests.key_id'), ofKeys));
  return keys.length === 0 ? select : select.groupBy(keys.map((_, index) => sql.lit(index + 1)));
}

/** Whether a column has one of the texts, or is null where that is the one value: an index does not serve both at once. */
export function isOneOf(
  column: RawBuilder<unknown>,
  values: readonly (string | null)[],
): RawBuilder<boolean> {
  const texts = values.filter((value) => value !== null);
  return texts.length === 0
    ? sql<boolean>`${column} is null`
    : sql<boolean>`${column} in (${sql.join(texts)})`;
}

function testOf(dimension: Dimension, value: string): RawBuilder<boolean> {
  if (dimension === 'tag') return hasTag(value);
  if (dimension === 'key_id') return sql<boolean>`requests.key_id = ${value}`;
  return sql<boolean>`${expressionOf(dimension)} = ${value}`;
}

export interface Column {
  as: string;
  value: RawBuilder<unknown>;
}

/** The buckets of time that requests are grouped by; null where they are not. */
export function periodOf({ by, timeZone }: SumsQuery) {
  const kind = timeGroupingIn(by);
  return kind === null ? null : timeBuckets(kind, timeZone);
}

function periodColumn(ms: number): Column {
  return { as: 'period', value: sql`started_at / ${sql.lit(ms)} * ${sql.lit(ms)}` };
}

function keyColumns(query: SumsQuery): Column[] {
  const ms = periodOf(query)?.stepMs;
  return [
    ...(ms === undefined ? [] : [periodColumn(ms)]),
    ...dimensionsIn(query.by).map((name) => ({ as: name, value: expressionOf(name) })),
  ];
}

/** What the groups of several groupings are made by. */
export function dimensionsIn(by: readonly Grouping[]): Dimension[] {
  return [...new Set(by.flatMap(dimensionsOf))];
}

/** Sums by what their group was made by. */
export type SumGroups = Map<string, Sums>;

/** Adds sums to those of the same group. */
export function addSums(groups: SumGroups, all: readonly Sums[]): void {
  for (const sums of all) {
    const key = JSON.stringify([sums.period, ...Object.values(sums.dimensions)]);
    const sofar = groups.get(key);
    groups.set(key, sofar === undefined ? sums : added(sofar, sums));
  }
}

/** The sums of two groups together, under the name of the first. */
export function added(one: Sums, other: Sums): Sums {
  const { dimensions, period } = one;
  // An amount of no request is 0, and says nothing of requests whose amount is not known.
  if (one.requests === 0) return { ...other, period, dimensions };
  if (other.requests === 0) return one;
  const usage = { ...one.usage };
  for (const { name } of buckets) usage[name] += other.usage[name];
  return {
    period,
    dimensions,
    requests: one.requests + other.requests,
    failed: one.failed + other.failed,
    aborted: one.aborted + other.aborted,
    estimated: one.estimated + other.estimated,
    unpriced: one.unpriced + other.unpriced,
    unpricedTokens: one.unpricedTokens + other.unpricedTokens,
    costUsd: addUsd(one.costUsd, other.costUsd),
    cacheSavingsUsd: addUsd(one.cacheSavingsUsd, other.cacheSavingsUsd),
    billedUsd: addUsd(one.billedUsd, other.billedUsd),
    planUsd: addUsd(one.planUsd, other.planUsd),
    routingSavingsUsd: addUsd(one.routingSavingsUsd, other.routingSavingsUsd),
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    usage,
    durationMs: one.durationMs + other.durationMs,
    ttftMs: one.ttftMs + other.ttftMs,
    ttftCount: one.ttftCount + other.ttftCount,
  };
}

function addUsd(one: number | null, other: number | null): number | null {
  return one === null && other === null ? null : exact((one ?? 0) + (other ?? 0));
}

/** What is summed up. */
export interface Measure extends Column {
  /** The column of sums that are kept. */
  sumColumn: string;
  /** The sum of those. */
  sumOfKept: RawBuilder<unknown>;
}

/** Fractions are added as decimal numbers where a database has them: PostgreSQL adds binary ones without compensation. */
const decimal = (column: string): RawBuilder<unknown> => sql`cast(${sql.ref(column)} as numeric)`;

const counted = (as: string, sumColumn: string, value: RawBuilder<unknown>): Measure => ({
  as,
  sumColumn,
  value,
  sumOfKept: sql`sum(${sql.ref(sumColumn)})`,
});

const fraction = (as: string, sumColumn: string, value: RawBuilder<unknown>): Measure => ({
  as,
  sumColumn,
  value,
  sumOfKept: sql`sum(${decimal(sumColumn)})`,
});

/** Under which name, of requests, and the column for it of sums that are kept. */
export const measures: readonly Measure[] = [
  counted('requests', 'requests', sql`count(*)`),
  counted('failed', 'failed', sql`count(*) filter (where outcome = 'failed')`),
  counted('aborted', 'aborted', sql`count(*) filter (where outcome = 'aborted')`),
  counted('estimated', 'estimated', sql`sum(estimated)`),
  counted('unpriced', 'unpriced', sql`count(*) filter (where cost_usd is null and input_tokens is not null)`),
  fraction('cost', 'cost_usd', sql`sum(${decimal('cost_usd')})`),
  fraction('savings', 'cache_savings_usd', sql`sum(${decimal('cache_savings_usd')})`),
  fraction('billed', 'billed_usd', sql`sum(${decimal('cost_usd')}) filter (where on_plan = 0)`),
  fraction('plan', 'plan_usd', sql`sum(${decimal('cost_usd')}) filter (where on_plan = 1)`),
  fraction('routing', 'routing_savings_usd', sql`sum(${decimal('routing_savings_usd')})`),
  counted(
    'unpricedTokens',
    'unpriced_tokens',
    sql`coalesce(sum(${sql.join(
      [...inputColumns, ...outputColumns].map((column) => sql`coalesce(${sql.ref(column)}, 0)`),
      sql` + `,
    )}) filter (where cost_usd is null), 0)`,
  ),
  counted('duration', 'duration_ms', sql`sum(duration_ms)`),
  counted('ttft', 'ttft_ms', sql`sum(ttft_ms)`),
  counted('ttftCount', 'ttft_count', sql`count(ttft_ms)`),
  ...buckets.map(({ column }) =>
    column === 'audio_seconds'
      ? fraction(column, column, sql`sum(${decimal(column)})`)
      : counted(column, column, sql`sum(${sql.ref(column)})`),
  ),
];

/** The sums in a row of a query that selects `measures`. */
export function toSums(
  row: Readonly<Record<string, unknown>>,
  by: readonly Grouping[],
  period: ReturnType<typeof periodOf>,
): Sums {
  const start = row['period'];
  return sumsOfGroup(
    period !== null && typeof start === 'number' ? period.startOf(start) : null,
    Object.fromEntries(dimensionsIn(by).map((name) => [name, textIn(row, name)])),
    (measure) => row[measure],
  );
}

/**
 * The sums of one group.
 * @param amountOf what there is of a measure, by its name of requests
 */
export function sumsOfGroup(
  period: Sums['period'],
  dimensions: Sums['dimensions'],
  amountOf: (measure: string) => unknown,
): Sums {
  const number = (name: string) => numberOf(amountOf(name));
  const requests = number('requests');
  const money = (name: string) => (requests === 0 ? 0 : moneyOf(amountOf(name)));
  const total = (columns: readonly string[]) => columns.reduce((sum, column) => sum + number(column), 0);
  const usage = { ...noUsage };
  for (const { column, name } of buckets) usage[name] = number(column);
  return {
    period,
    dimensions,
    requests,
    failed: number('failed'),
    aborted: number('aborted'),
    estimated: number('estimated'),
    unpriced: number('unpriced'),
    unpricedTokens: number('unpricedTokens'),
    costUsd: money('cost'),
    cacheSavingsUsd: money('savings'),
    billedUsd: money('billed'),
    planUsd: money('plan'),
    routingSavingsUsd: money('routing'),
    inputTokens: total(inputColumns),
    outputTokens: total(outputColumns),
    usage,
    durationMs: number('duration'),
    ttftMs: number('ttft'),
    ttftCount: number('ttftCount'),
  };
}

const noUsage = Object.fromEntries(buckets.map(({ name }) => [name, 0])) as Sums['usage'];

/** SQL's sum over nothing but nulls is null. */
function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

function moneyOf(value: unknown): number | null {
  return typeof value === 'number' ? exact(value) : null;
}

function textIn(row: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = row[name];
  return typeof value === 'string' ? value : null;
}

/**
 * The decimal number that a sum of binary fractions stands for: 0.1 + 0.2 is 0.3. SQLite adds with compensation
 * (since 3.43), and PostgreSQL decimal numbers, so the sum is off by about its own last bit. No price has 12 decimals; of a sum above 400 USD as many
 * are kept as that bit leaves in no doubt.
 */
export function exact(usd: number): number {
  for (const scale of SCALES) {
    // Without the sign of zero.
    if (Math.abs(usd) * scale < CERTAIN) return Math.round(usd * scale) / scale + 0;
  }
  return usd;
}

const SCALES = [1e12, 1e9, 1e6];
/** Below it a bit of doubt is less than a tenth of a unit: 2^52 / 10. */
const CERTAIN = 4.5e14;
