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
import { createPackedSumsTotal } from './packed-sums.ts';
import type { CountedTime } from './read-counts.ts';
import { addPacked } from './read-packed.ts';
import { DAY_MS, type KeptSet, setFor, setsFor } from './sets.ts';
import { type Span, type SummedSpans, summedSpans, type Time } from './spans.ts';

/**
 * The same as `slicedSums`, of sums that are kept or archived as far as there are some: the ledger is read only for the times
 * between. Sorted by what the groups were made by.
 */
export async function allSums(store: LedgerReader, query: SumsQuery): Promise<Sums[]> {
  return sumsFrom(store, query, 'all');
}

/** The same of the requests alone that are in the ledger. */
export async function ledgerSums(store: LedgerReader, query: SumsQuery): Promise<Sums[]> {
  return sumsFrom(store, query, 'ledger');
}

/** What a time consists of: spans that there are sums of, and what is between them. */
interface Cover {
  spans: (Span & { set: KeptSet })[];
  gaps: Time[];
}

async function sumsFrom(store: LedgerReader, query: SumsQuery, from: 'ledger' | 'all'): Promise<Sums[]> {
  const sets = setsFor(query);
  const { gaps, spans } = coverOf(await summedSpans(store, sets, query, from), sets, query);
  const groups: SumGroups = new Map();
  const packed = createPackedSumsTotal(query);
  for (const span of spans) {
    if (span.source === 'packed') await addPacked(packed, store, span);
    else addSums(groups, await sumsOfSpan(store, span.set, query, span));
  }
  if (spans.some(({ source }) => source === 'packed')) addSums(groups, packed.sums());
  for (const gap of gaps) addSums(groups, await slicedSums(store, { ...query, ...gap }));
  return sortedByGroup(groups);
}

/** @param sets those of longer spans first; what one of them lacks is looked for in the next */
function coverOf(summed: SummedSpans, sets: readonly KeptSet[], time: Time): Cover {
  const [set, ...finer] = sets;
  if (set === undefined) return { spans: [], gaps: [time] };
  const own = summed.of(set, time);
  const cover: Cover = { spans: own.map((span) => ({ ...span, set })), gaps: [] };
  for (const gap of gapsBetween(own, time)) {
    const { gaps, spans } = coverOf(summed, finer, gap);
    cover.gaps.push(...gaps);
    cover.spans.push(...spans);
  }
  return cover;
}

/** The parts of a time that are in none of the spans, which are in order. */
function gapsBetween(spans: readonly Span[], { before, since }: Time): Time[] {
  const gaps: Time[] = [];
  let from = since;
  for (const span of spans) {
    if (from < span.from) gaps.push({ since: from, before: span.from });
    from = span.before;
  }
  if (before === undefined) gaps.push({ since: from });
  else if (from < before) gaps.push({ since: from, before });
  return gaps;
}

/** The sums of some keys, of requests that are in the ledger. Of these alone the requests are read that no sums are kept of. */
export async function sumsOfKeys(
  store: LedgerReader,
  query: SumsQuery,
  keys: readonly (string | null)[],
): Promise<Sums[]> {
  const set = setFor(query);
  const spans = set === null ? [] : (await summedSpans(store, [set], query, 'ledger')).of(set, query);
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

/** How many requests are in the ledger, or began in a time. Those of the hours that sums are kept of are not counted one by one. */
export async function countOfRequests(
  store: Pick<Store, 'db'>,
  { before, since }: CountedTime = { since: null, before: null },
): Promise<number> {
  const { db } = store;
  const query: SumsQuery = { by: [], since: since ?? 0, ...(before === null ? {} : { before }) };
  const set = setFor(query);
  const spans = set === null ? [] : (await summedSpans(store, [set], query, 'ledger')).of(set, query);
  let count = 0;
  for (const span of spans)
    if (set !== null) count += (await sumsOfSpan(store, set, query, span))[0]?.requests ?? 0;
  for (const gap of gapsBetween(spans, query)) {
    let select = db.selectFrom('requests').select(({ fn }) => fn.countAll<number>().as('count'));
    if (gap.since > 0) select = select.where('started_at', '>=', gap.since);
    if (gap.before !== undefined) select = select.where('started_at', '<', gap.before);
    count += (await select.executeTakeFirstOrThrow()).count;
  }
  return count;
}

async function sumsOfSpan(
  { db, kind }: LedgerReader,
  { name }: KeptSet,
  query: SumsQuery,
  { before, from, source }: Span,
): Promise<Sums[]> {
  const { by, keys: ofKeys, only = {} } = query;
  const period = periodOf(query);
  const stepMs = sql.lit(period?.stepMs ?? 1);
  const keys = [
    ...(period === null ? [] : [{ as: 'period', value: sql`at / ${stepMs} * ${stepMs}` }]),
    ...dimensionsIn(by).map((dimension) => ({ as: dimension, value: sql.ref(dimension) })),
  ];
  const selected = [...keys, ...measures.map(({ as, sumOfKept }) => ({ as, value: sumOfKept }))].map(
    ({ as, value }) => sql`${value} as ${sql.ref(as)}`,
  );
  const filters = Object.entries(only).flatMap(([dimension, value]) =>
    value === undefined ? [] : [sql`${sql.ref(dimension)} = ${value}`],
  );
  const ofSome = ofKeys === undefined ? [] : [isOneOf(sql.ref('key_id'), ofKeys)];
  // Without fresh statistics a database would look at the sums of all keys of the time.
  const isByKey = source === 'usage' && name === 'key' && (ofKeys ?? only.key_id) !== undefined;
  const hint = isByKey && kind === 'sqlite' ? sql`indexed by usage_sums_by_key` : sql``;
  const at = isByKey && kind === 'postgres' ? sql`(at + 0)` : sql`at`;
  const groups =
    keys.length === 0 ? sql`` : sql`group by ${sql.join(keys.map((_, index) => sql.lit(index + 1)))}`;
  const { rows } = await sql<Record<string, unknown>>`select ${sql.join(selected)}
    from ${sql.ref(`${source}_sums`)} ${hint}
    where ${sql.join([sql`grouping_name = ${sql.lit(name)}`, sql`${at} >= ${from}`, sql`${at} < ${before}`, ...filters, ...ofSome], sql` and `)}
    ${groups}`.execute(db);
  return rows.map((row) => toSums(row, by, period));
}
