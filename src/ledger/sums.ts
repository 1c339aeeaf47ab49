import { type RawBuilder, sql } from 'kysely';
import type { Store } from '../store/database.ts';
import { type BucketName, buckets, inputColumns, outputColumns } from './buckets.ts';
import type { Grouping } from './schema.ts';

/** What requests can be narrowed to, and grouped by. */
export type Dimension = 'provider' | 'model' | 'connection' | 'key_id' | 'combo_id';

export interface SumsQuery {
  /** Groups within groups, of which one at most is by time; none: all in one. */
  by: readonly Grouping[];
  /** Requests that began at or after `since` and before `before`, in milliseconds since the epoch. */
  since: number;
  before?: number;
  /** Only requests of these. */
  only?: Partial<Record<Dimension, string>>;
}

/** The sums of one group. */
export interface Sums {
  /** Number of the hour or day since the epoch, where grouped by one. */
  period: number | null;
  /** What the group was made by; null for the other dimensions, and where it was not known. */
  dimensions: Record<Dimension, string | null>;
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
  inputTokens: number;
  outputTokens: number;
  usage: Record<BucketName, number>;
  /** Of all requests together. */
  durationMs: number;
  /** Of those that had a first byte, and how many did. */
  ttftMs: number;
  ttftCount: number;
}

const hourMs = 3_600_000;
export const dayMs = 86_400_000;

const dimensionsOf: Readonly<Record<Grouping, readonly Dimension[]>> = {
  hour: [],
  day: [],
  provider: ['provider'],
  model: ['provider', 'model'],
  connection: ['connection'],
  key: ['key_id'],
  combo: ['combo_id'],
};

/** How many milliseconds a period has, for groupings by time. */
export function periodMs(by: readonly Grouping[]): number | null {
  return by.includes('hour') ? hourMs : by.includes('day') ? dayMs : null;
}

/**
 * Sums over requests, one for each group that there is; without a grouping exactly one. The process does nothing else
 * meanwhile: a million requests take seconds.
 */
export async function sumsOf(store: Pick<Store, 'db'>, query: SumsQuery): Promise<Sums[]> {
  const { before, by, only = {}, since } = query;
  const keys = keyColumns(by);
  let select = store.db
    .selectFrom('requests')
    .where('started_at', '>=', since)
    .select([...keys.map(({ as, value }) => value.as(as)), ...measures.map(({ as, value }) => value.as(as))]);
  if (before !== undefined) select = select.where('started_at', '<', before);
  for (const [dimension, value] of Object.entries(only))
    select = select.where(sql.ref(`requests.${dimension}`), '=', value);
  if (keys.length > 0) {
    const places = keys.map((_, index) => sql.lit(index + 1));
    select = select.groupBy(places).orderBy(sql`${sql.join(places)}`);
  }
  const rows = await select.execute();
  return rows.map((row) => toSums(row));
}

interface Column {
  as: string;
  value: RawBuilder<unknown>;
}

function keyColumns(by: readonly Grouping[]): Column[] {
  const ms = periodMs(by);
  const period = ms === null ? [] : [{ as: 'period', value: sql`started_at / ${sql.lit(ms)}` }];
  const names = new Set(by.flatMap((grouping) => dimensionsOf[grouping]));
  return [...period, ...[...names].map((name) => ({ as: name, value: sql`${sql.ref(`requests.${name}`)}` }))];
}

const measures: readonly Column[] = [
  { as: 'requests', value: sql`count(*)` },
  { as: 'failed', value: sql`sum(outcome = 'failed')` },
  { as: 'aborted', value: sql`sum(outcome = 'aborted')` },
  { as: 'estimated', value: sql`sum(estimated)` },
  { as: 'unpriced', value: sql`sum(cost_usd is null and input_tokens is not null)` },
  { as: 'cost', value: sql`sum(cost_usd)` },
  { as: 'savings', value: sql`sum(cache_savings_usd)` },
  {
    as: 'unpricedTokens',
    value: sql`sum(iif(cost_usd is null, ${sql.join(
      [...inputColumns, ...outputColumns].map((column) => sql`coalesce(${sql.ref(column)}, 0)`),
      sql` + `,
    )}, 0))`,
  },
  { as: 'duration', value: sql`sum(duration_ms)` },
  { as: 'ttft', value: sql`sum(ttft_ms)` },
  { as: 'ttftCount', value: sql`count(ttft_ms)` },
  ...buckets.map(({ column }) => ({ as: column, value: sql`sum(${sql.ref(column)})` })),
];

function toSums(row: Readonly<Record<string, unknown>>): Sums {
  const requests = numberIn(row, 'requests');
  const total = (columns: readonly string[]) =>
    columns.reduce((sum, column) => sum + numberIn(row, column), 0);
  return {
    period: typeof row['period'] === 'number' ? row['period'] : null,
    dimensions: {
      provider: textIn(row, 'provider'),
      model: textIn(row, 'model'),
      connection: textIn(row, 'connection'),
      key_id: textIn(row, 'key_id'),
      combo_id: textIn(row, 'combo_id'),
    },
    requests,
    failed: numberIn(row, 'failed'),
    aborted: numberIn(row, 'aborted'),
    estimated: numberIn(row, 'estimated'),
    unpriced: numberIn(row, 'unpriced'),
    unpricedTokens: numberIn(row, 'unpricedTokens'),
    costUsd: requests === 0 ? 0 : moneyIn(row, 'cost'),
    cacheSavingsUsd: requests === 0 ? 0 : moneyIn(row, 'savings'),
    inputTokens: total(inputColumns),
    outputTokens: total(outputColumns),
    usage: Object.fromEntries(
      buckets.map(({ column, name }) => [name, numberIn(row, column)]),
    ) as Sums['usage'],
    durationMs: numberIn(row, 'duration'),
    ttftMs: numberIn(row, 'ttft'),
    ttftCount: numberIn(row, 'ttftCount'),
  };
}

/** SQL's sum over nothing but nulls is null. */
function numberIn(row: Readonly<Record<string, unknown>>, name: string): number {
  const value = row[name];
  return typeof value === 'number' ? value : 0;
}

function moneyIn(row: Readonly<Record<string, unknown>>, name: string): number | null {
  const value = row[name];
  return typeof value === 'number' ? exact(value) : null;
}

function textIn(row: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = row[name];
  return typeof value === 'string' ? value : null;
}

/**
 * The decimal number that a sum of binary fractions stands for: 0.1 + 0.2 is 0.3. SQLite adds with compensation
 * (since 3.43), so the sum is off by about its own last bit. No price has 12 decimals; of a sum above 400 USD as many
 * are kept as that bit leaves in no doubt.
 */
export function exact(usd: number): number {
  for (const scale of SCALES) {
    if (Math.abs(usd) * scale < CERTAIN) return Math.round(usd * scale) / scale;
  }
  return usd;
}

const SCALES = [1e12, 1e9, 1e6];
/** Below it a bit of doubt is less than a tenth of a unit: 2^52 / 10. */
const CERTAIN = 4.5e14;
