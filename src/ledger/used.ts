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
/** Requests looked at in one go: some milliseconds of a thread that others wait for too. */
const SLICE_ROWS = 16_000;

/**
 * What was used, by parts of time. Requests that were refused before they were sent anywhere do not count. Made in
 * slices of few enough requests with room for other work between them; a server does it beside this process, and at once.
 */
export async function budgetUsageParts(
  store: Pick<Store, 'db' | 'kind'>,
  query: BudgetUsageQuery,
  sliceRows: number = SLICE_ROWS,
): Promise<BudgetUsagePart[]> {
  const parts: BudgetUsagePart[] = [];
  let { since } = query;
  while (since <= query.before) {
    const until: number =
      store.kind === 'postgres' ? query.before + 1 : await endOfSlice(store, query, since, sliceRows);
    parts.push(...(await slice(store, query, since, until)));
    since = until;
    await setImmediate();
  }
  return parts;
}

/** When the slice ends that begins at `since`: after so many requests, and with a part. Only those of a key are found by themselves. */
async function endOfSlice(
  { db }: Pick<Store, 'db'>,
  { before, only, stepMs }: BudgetUsageQuery,
  since: number,
  rows: number,
): Promise<number> {
  let select = db.selectFrom('requests').select('started_at').where('started_at', '>=', since);
  if (only.key_id !== undefined) select = select.where('key_id', '=', only.key_id);
  const last = await select.orderBy('started_at').offset(rows).limit(1).executeTakeFirst();
  if (last === undefined) return before + 1;
  const leastMs = Math.max(HOUR_MS, stepMs);
  const startOf = (time: number) => Math.floor(time / leastMs) * leastMs;
  return Math.max(startOf(last.started_at), startOf(since) + leastMs);
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
