import { setImmediate } from 'node:timers/promises';
import { type Expression, type SqlBool, sql } from 'kysely';
import type { Store } from '../store/database.ts';
import { inputColumns, outputColumns } from './buckets.ts';
import { hasTag } from './tag-column.ts';

export interface BudgetUsageQuery {
  /** Only requests of one of these; of a combo also those that got to their target through it within another. */
  only: Partial<Record<'key_id' | 'connection_id' | 'combo_id' | 'tag', string>>;
  /** Requests that began from here on and had ended by `before`, in milliseconds since the epoch. */
  since: number;
  before: number;
  /** Sums are made for parts of time of this length, which begin at its multiples. */
  stepMs: number;
}

export interface BudgetUsagePart {
  /** When the part begins. */
  at: number;
  /** Sum of the known costs. */
  usd: number;
  tokens: number;
  requests: number;
  /** Requests that used something whose cost is not known. */
  unpriced: number;
  /** The id of the first request: ids sort by time. */
  first: string;
}

const HOUR_MS = 3_600_000;
/** Requests summed up in one go, about: some milliseconds. */
const SLICE_ROWS = 2_000;
/** The most time in one go. */
const LONGEST_MS = 64 * 24 * HOUR_MS;

/**
 * What was used, by parts of time. Requests that were refused before they were sent anywhere do not count. Made in
 * slices with room for other work between them, of as much time as has few enough requests; a server does it beside this
 * process, and at once.
 */
export async function budgetUsageParts(
  store: Pick<Store, 'db' | 'kind'>,
  query: BudgetUsageQuery,
): Promise<BudgetUsagePart[]> {
  const parts: BudgetUsagePart[] = [];
  const first = await firstAfter(store, query);
  if (first === null) return parts;
  const atOnce = store.kind === 'postgres';
  const leastMs = Math.max(HOUR_MS, query.stepMs);
  let sliceMs = leastMs;
  let since = first;
  while (since <= query.before) {
    const until = atOnce ? query.before + 1 : Math.floor(since / leastMs) * leastMs + sliceMs;
    const usage = await slice(store, query, since, until);
    parts.push(...usage);
    const requests = usage.reduce((sum, part) => sum + part.requests, 0);
    if (requests < SLICE_ROWS / 2) sliceMs = Math.min(2 * sliceMs, Math.max(leastMs, LONGEST_MS));
    else if (requests > SLICE_ROWS) sliceMs = Math.max(leastMs, Math.floor(sliceMs / 2 / leastMs) * leastMs);
    since = until;
    await setImmediate();
  }
  return parts;
}

async function firstAfter(
  store: Pick<Store, 'db'>,
  { only, since }: BudgetUsageQuery,
): Promise<number | null> {
  let select = store.db.selectFrom('requests').select('started_at').where('started_at', '>=', since);
  for (const condition of conditionsOf(only)) select = select.where(condition);
  return (await select.orderBy('started_at').limit(1).executeTakeFirst())?.started_at ?? null;
}

function conditionsOf(only: BudgetUsageQuery['only']): Expression<SqlBool>[] {
  return Object.entries(only).map(([column, value]) => {
    if (column === 'tag') return hasTag(value);
    const same = sql<SqlBool>`${sql.ref(`requests.${column}`)} = ${value}`;
    if (column !== 'combo_id') return same;
    const inner = sql`select 1 from json_each(requests.inner_combo_ids) as inner_combo where inner_combo.value = ${value}`;
    return sql<SqlBool>`(${same} or exists (${inner}))`;
  });
}

async function slice(
  store: Pick<Store, 'db'>,
  { before, only, stepMs }: BudgetUsageQuery,
  since: number,
  until: number,
): Promise<BudgetUsagePart[]> {
  const tokens = sql.join(
    [...inputColumns, ...outputColumns].map((column) => sql`coalesce(${sql.ref(column)}, 0)`),
    sql` + `,
  );
  let select = store.db
    .selectFrom('requests')
    .select([
      sql<number>`started_at / ${sql.lit(stepMs)}`.as('part'),
      sql<number>`coalesce(sum(cost_usd), 0)`.as('usd'),
      sql<number>`sum(${tokens})`.as('tokens'),
      sql<number>`count(*)`.as('requests'),
      sql<string>`min(id)`.as('first'),
      sql<number>`count(*) filter (where cost_usd is null and input_tokens is not null)`.as('unpriced'),
    ])
    .where('started_at', '>=', since)
    .where('started_at', '<', until)
    .where(sql<number>`started_at + duration_ms`, '<=', before)
    .where('attempts', '>', 0);
  for (const condition of conditionsOf(only)) select = select.where(condition);
  const rows = await select.groupBy(sql.lit(1)).execute();
  return rows.map(({ part, ...sums }) => ({ ...sums, at: part * stepMs }));
}
