import { sql } from 'kysely';
import type { Store } from '../../store/database.ts';
import { type LedgerReader, slicedSums, sortedByGroup } from '../sliced-sums.ts';
import {
  addSums,
  dimensionsIn,
  isOneOf,
  measures,
  periodOf,
  type SumGroups,
  type Sums,
  type SumsQuery,
  sumsOf,
  toSums,
} from '../sums.ts';
import { DAY_MS, type KeptSet, setFor } from './sets.ts';

/**
 * The same as `slicedSums`, of sums that are kept or archived as far as there are some: the ledger is read only for the times
 * between. Sorted by what the groups were made by.
 */
export async function allSums(store: LedgerReader, query: SumsQuery): Promise<Sums[]> {
  return sumsFrom(store, query, summedSpans);
}

/** The same of the requests alone that are in the ledger. */
export async function ledgerSums(store: LedgerReader, query: SumsQuery): Promise<Sums[]> {
  return sumsFrom(store, query, async (_, set) =>
    joined(await spansIn('usage', store, set, query), set.stepMs),
  );
}

async function sumsFrom(store: LedgerReader, query: SumsQuery, spansOf: typeof summedSpans): Promise<Sums[]> {
  const set = setFor(query);
  const spans = set === null ? [] : await spansOf(store, set, query);
  if (set === null || spans.length === 0) return slicedSums(store, query);
  const groups: SumGroups = new Map();
  let since = query.since;
  for (const span of spans) {
    if (since < span.from) addSums(groups, await slicedSums(store, { ...query, since, before: span.from }));
    addSums(groups, await sumsOfSpan(store, set, query, span));
    since = span.before;
  }
  if (since < (query.before ?? Number.POSITIVE_INFINITY))
    addSums(groups, await slicedSums(store, { ...query, since }));
  return sortedByGroup(groups);
}

/** The sums of some keys, of requests that are in the ledger. Of these alone the requests are read that no sums are kept of. */
export async function sumsOfKeys(
  store: LedgerReader,
  query: SumsQuery,
  keys: readonly (string | null)[],
): Promise<Sums[]> {
  const set = setFor(query);
  const spans = set === null ? [] : joined(await spansIn('usage', store, set, query), set.stepMs);
  const groups: SumGroups = new Map();
  for (const some of [keys.filter((key) => key !== null), keys.filter((key) => key === null)]) {
    if (some.length === 0) continue;
    const ofKeys = { ...query, keys: some };
    let { since } = query;
    for (const span of spans) {
      if (since < span.from) addSums(groups, await sumsOf(store, { ...ofKeys, since, before: span.from }));
      if (set !== null) addSums(groups, await sumsOfSpan(store, set, ofKeys, span));
      since = span.before;
    }
    if (since < (query.before ?? Number.POSITIVE_INFINITY))
      addSums(groups, await sumsOf(store, { ...ofKeys, since }));
  }
  return sortedByGroup(groups);
}

/** Whether sums of a time are archived, whose requests were removed. */
export async function hasArchived({ db }: LedgerReader, { before, since }: SumsQuery): Promise<boolean> {
  let select = db
    .selectFrom('archived_spans')
    .select('at')
    .where('at', '>', since - DAY_MS);
  if (before !== undefined) select = select.where('at', '<', before);
  return (await select.limit(1).execute()).length > 0;
}

/** How many requests are in the ledger. Those of the hours that sums are kept of are not counted one by one. */
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
  const kept = set === null ? [] : await spansIn('usage', store, set, ofAll);
  for (const span of joined(kept, set?.stepMs ?? 0)) {
    count += since === span.from ? 0 : await between(span.from);
    if (set !== null) count += (await sumsOfSpan(store, set, ofAll, span))[0]?.requests ?? 0;
    since = span.before;
  }
  return count + (await between(null));
}

/** Where sums are: kept of requests that are in the ledger, or archived of those that were removed from it. */
type Source = 'usage' | 'archived';

interface SpanStart {
  at: number;
  source: Source;
}

interface Span {
  from: number;
  before: number;
  source: Source;
}

/** The times that there are sums of, in order. What is archived counts where there are both: its requests are being removed. */
async function summedSpans(store: Pick<Store, 'db'>, set: KeptSet, query: SumsQuery): Promise<Span[]> {
  const archived = await spansIn('archived', store, set, query);
  const gone = new Set(archived.map(({ at }) => at));
  const kept = (await spansIn('usage', store, set, query)).filter(({ at }) => !gone.has(at));
  return joined(
    [...archived, ...kept].sort((one, other) => one.at - other.at),
    set.stepMs,
  );
}

/** In order. */
async function spansIn(
  source: Source,
  { db }: Pick<Store, 'db'>,
  { stepMs }: KeptSet,
  { before, since }: SumsQuery,
): Promise<SpanStart[]> {
  const complete = source === 'usage' ? sql<boolean>`complete = 1` : sql<boolean>`1 = 1`;
  let select = db
    .selectFrom(`${source}_spans`)
    .select('at')
    .where('step_ms', '=', stepMs)
    .where('at', '>=', since)
    .where(complete);
  if (before !== undefined) select = select.where('at', '<=', before - stepMs);
  return (await select.orderBy('at').execute()).map(({ at }) => ({ at, source }));
}

/** Those next to each other as one. */
function joined(starts: readonly SpanStart[], stepMs: number): Span[] {
  const spans: Span[] = [];
  for (const { at, source } of starts) {
    const last = spans.at(-1);
    if (last?.before === at && last.source === source) last.before = at + stepMs;
    else spans.push({ from: at, before: at + stepMs, source });
  }
  return spans;
}

async function sumsOfSpan(
  { db, kind }: LedgerReader,
  { name }: KeptSet,
  query: SumsQuery,
  { before, from, source }: Span,
): Promise<Sums[]> {
  const { by, keys: ofKeys, only = {} } = query;
  const period = periodOf(query);
  const keys = [
    ...(period === null ? [] : [{ as: 'period', value: sql.ref('at') }]),
    ...dimensionsIn(by).map((dimension) => ({ as: dimension, value: sql.ref(dimension) })),
  ];
  const selected = [...keys, ...measures.map(({ as, sumOfKept }) => ({ as, value: sumOfKept }))].map(
    ({ as, value }) => sql`${value} as ${sql.ref(as)}`,
  );
  const filters = Object.entries(only).flatMap(([dimension, value]) =>
    value === undefined ? [] : [sql`${sql.ref(dimension)} = ${value}`],
  );
  const ofSome = ofKeys === undefined ? [] : [isOneOf(sql.ref('key_id'), ofKeys)];
  // Without statistics SQLite would look at the sums of all keys of the time.
  const isByKey = source === 'usage' && name === 'key' && (ofKeys ?? only.key_id) !== undefined;
  const hint = isByKey && kind === 'sqlite' ? sql`indexed by usage_sums_by_key` : sql``;
  const groups =
    keys.length === 0 ? sql`` : sql`group by ${sql.join(keys.map((_, index) => sql.lit(index + 1)))}`;
  const { rows } = await sql<Record<string, unknown>>`select ${sql.join(selected)}
    from ${sql.ref(`${source}_sums`)} ${hint}
    where ${sql.join([sql`grouping_name = ${sql.lit(name)}`, sql`at >= ${from}`, sql`at < ${before}`, ...filters, ...ofSome], sql` and `)}
    ${groups}`.execute(db);
  return rows.map((row) => toSums(row, by, period));
}
