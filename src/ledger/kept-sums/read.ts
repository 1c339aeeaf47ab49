import { sql } from 'kysely';
import type { Store } from '../../store/database.ts';
import { slicedSums, sortedByGroup } from '../sliced-sums.ts';
import {
  addSums,
  dimensionsIn,
  measures,
  periodOf,
  type SumGroups,
  type Sums,
  type SumsQuery,
  toSums,
} from '../sums.ts';
import { type KeptSet, setFor } from './sets.ts';

/**
 * The same as `slicedSums`, of sums that are kept as far as there are some: the ledger is read only for the times between.
 * Sorted by what the groups were made by.
 */
export async function allSums(store: Pick<Store, 'db'>, query: SumsQuery): Promise<Sums[]> {
  const set = setFor(query);
  const spans = set === null ? [] : await completeSpans(store, set, query);
  if (set === null || spans.length === 0) return slicedSums(store, query);
  const groups: SumGroups = new Map();
  let since = query.since;
  for (const { before, from } of spans) {
    if (since < from) addSums(groups, await slicedSums(store, { ...query, since, before: from }));
    addSums(groups, await keptSums(store, set, query, { from, before }));
    since = before;
  }
  if (since < (query.before ?? Number.POSITIVE_INFINITY))
    addSums(groups, await slicedSums(store, { ...query, since }));
  return sortedByGroup(groups);
}

/** How many requests there are. Those of the hours that sums are kept of are not counted one by one. */
export async function countOfRequests(store: Pick<Store, 'db'>): Promise<number> {
  const { db } = store;
  const ofAll: SumsQuery = { by: [], since: 0 };
  const set = setFor(ofAll);
  let count = 0;
  let since: number | null = null;
  const between = async (before: number | null): Promise<number> => {
    let select = db.selectFrom('requests').select(({ fn }) => fn.countAll<number>().as('count'));
    if (since !== null) select = select.where('started_at', '>=', since);
    if (before !== null) select = select.where('started_at', '<', before);
    return (await select.executeTakeFirstOrThrow()).count;
  };
  for (const span of set === null ? [] : await completeSpans(store, set, ofAll)) {
    count += since === span.from ? 0 : await between(span.from);
    if (set !== null) count += (await keptSums(store, set, ofAll, span))[0]?.requests ?? 0;
    since = span.before;
  }
  return count + (await between(null));
}

interface Span {
  from: number;
  before: number;
}

/** The times that sums are kept of, in order; those next to each other as one. */
async function completeSpans(
  { db }: Pick<Store, 'db'>,
  { stepMs }: KeptSet,
  { before, since }: SumsQuery,
): Promise<Span[]> {
  let select = db
    .selectFrom('usage_spans')
    .select('at')
    .where('step_ms', '=', stepMs)
    .where('complete', '=', 1)
    .where('at', '>=', since);
  if (before !== undefined) select = select.where('at', '<=', before - stepMs);
  const spans: Span[] = [];
  for (const { at } of await select.orderBy('at').execute()) {
    const last = spans.at(-1);
    if (last?.before === at) last.before = at + stepMs;
    else spans.push({ from: at, before: at + stepMs });
  }
  return spans;
}

async function keptSums(
  { db }: Pick<Store, 'db'>,
  { name }: KeptSet,
  query: SumsQuery,
  { before, from }: Span,
): Promise<Sums[]> {
  const { by, only = {} } = query;
  const period = periodOf(query);
  const keys = [
    ...(period === null ? [] : [{ as: 'period', value: sql.ref('at') }]),
    ...dimensionsIn(by).map((dimension) => ({ as: dimension, value: sql.ref(dimension) })),
  ];
  let select = db
    .selectFrom('usage_sums')
    .select([
      ...keys.map(({ as, value }) => value.as(as)),
      ...measures.map(({ as, kept }) => sql`sum(${sql.ref(kept)})`.as(as)),
    ])
    .where('grouping_name', '=', name)
    .where('at', '>=', from)
    .where('at', '<', before);
  for (const [dimension, value] of Object.entries(only))
    if (value !== undefined) select = select.where(sql<boolean>`${sql.ref(dimension)} = ${value}`);
  if (keys.length > 0) select = select.groupBy(keys.map((_, index) => sql.lit(index + 1)));
  const rows = await select.execute();
  return rows.map((row) => toSums(row, by, period));
}
