import { setImmediate } from 'node:timers/promises';
import type { Store } from '../store/database.ts';
import { addSums, type SumGroups, type Sums, type SumsQuery, sumsOf } from './sums.ts';

/** Requests summed up in one go: some milliseconds. */
const SLICE_ROWS = 2_000;
/** The same in a thread of its own: what has few requests of many groups takes longer to be added up than to be read. */
const SLICE_ROWS_APART = 16_000;

/** Where requests are read; `kind` is that of the store. */
export interface LedgerReader extends Pick<Store, 'db'> {
  kind?: Store['kind'];
  /** Whether a thread of its own reads. Default false. */
  apart?: boolean;
}

/**
 * The same as `sumsOf`, made of the sums of few requests at a time with room for other work between them: a gateway
 * that sums up a month must go on answering. A server does it beside this process, and at once. Sorted by what the groups were
 * made by.
 */
export async function slicedSums(
  store: LedgerReader,
  query: SumsQuery,
  sliceRows: number = store.apart === true ? SLICE_ROWS_APART : SLICE_ROWS,
): Promise<Sums[]> {
  const groups: SumGroups = new Map();
  if (store.kind === 'postgres') {
    addSums(groups, await sumsOf(store, query));
    return sortedByGroup(groups);
  }
  for (let since: number | null = query.since; since !== null; ) {
    const cut = await startOfNext(store, { ...query, since }, sliceRows);
    const next: number | null = cut !== null && cut < (query.before ?? Number.POSITIVE_INFINITY) ? cut : null;
    const slice = next === null ? query : { ...query, before: next };
    addSums(groups, await sumsOf(store, { ...slice, since }));
    since = next;
    await setImmediate();
  }
  return sortedByGroup(groups);
}

/** By time as it goes by, then by the names that the groups were made by. */
export function sortedByGroup(groups: SumGroups): Sums[] {
  return [...groups.values()]
    .map((sums) => ({ sums, names: Object.values(sums.dimensions).map((name) => name ?? '') }))
    .sort(byGroup)
    .map(({ sums }) => sums);
}

/**
 * When the slice ends that begins at `since`: after so many requests, and all of the last one's millisecond. Those of one
 * key are found by themselves; what else a query is narrowed to is not looked for here. Null: never.
 */
async function startOfNext(
  store: Pick<Store, 'db'>,
  { only = {}, since }: SumsQuery,
  rows: number,
): Promise<number | null> {
  let select = store.db.selectFrom('requests').select('started_at').where('started_at', '>=', since);
  if (only.key_id !== undefined) select = select.where('key_id', '=', only.key_id);
  const last = await select
    .orderBy('started_at')
    .offset(rows - 1)
    .limit(1)
    .executeTakeFirst();
  return last === undefined ? null : last.started_at + 1;
}

interface NamedSums {
  sums: Sums;
  names: readonly string[];
}

/** Time as it goes by, names by their letters; what was not known comes first. */
function byGroup(one: NamedSums, other: NamedSums): number {
  const apart = (one.sums.period ?? 0) - (other.sums.period ?? 0);
  if (apart !== 0) return apart;
  for (const [index, name] of one.names.entries()) {
    const against = other.names[index] ?? '';
    if (name !== against) return name < against ? -1 : 1;
  }
  return 0;
}
