import { sql } from 'kysely';
import type { ListQuery, Resource } from '../../http/resource.ts';
import { GatewayError } from '../../lib/error.ts';
import type { Store } from '../../store/database.ts';
import { inputColumns, outputColumns } from '../buckets.ts';
import { clientColumn } from '../counted-columns.ts';
import { countOfRuns } from '../kept-sums/run-totals.ts';
import { namesOf } from '../names.ts';
import { conditionOf } from '../page.ts';
import { type ToolRun, toolRun } from '../schema.ts';
import { exact } from '../sums.ts';
import { requestFilters } from './filters.ts';

/** The runs of tools: the requests of one key that name the same session. It takes the filters of `requests`. */
export function toolRunsResource(store: Pick<Store, 'db'>): Resource {
  return {
    name: 'tool_runs',
    title: 'Tool runs',
    summary:
      'Sums of the requests of one key with the same session; the run with the latest request first. It accepts the filters of `requests`.',
    record: toolRun,
    read: 'requests:read',
    filters: requestFilters,
    async page(query) {
      if (query.sort.length > 0)
        throw new GatewayError('invalid_request', 'tool runs come with the latest first: leave out sort_by', {
          param: 'sort_by',
        });
      const count = await countOfRuns(store.db);
      if (query.groups.length === 0) return { rows: await latestRuns(store, query), count, filtered: count };
      return { ...(await filteredRuns(store, query)), count };
    },
    async find(id) {
      const groups = [[{ attribute: 'session', operator: '==', value: id } as const]];
      const [row] = await runs(store, { groups, limit: 1, offset: 0 });
      return row ?? null;
    },
  };
}

/**
 * Which requests belong to the runs of a filter. The index by session has what no filter needs; with a filter, a walk
 * through all sessions is worse than the index of the filter, and the planner has no figures to tell.
 */
function whereOf(groups: ListQuery['groups']) {
  const condition = conditionOf(groups);
  return condition === null
    ? sql<boolean>`session is not null`
    : sql<boolean>`coalesce(session, null) is not null and ${condition}`;
}

type Slice = Pick<ListQuery, 'limit' | 'offset'>;

/** How many runs there are with requests that a filter leaves. */
export function countQuery({ db }: Pick<Store, 'db'>, groups: ListQuery['groups']) {
  const each = db.selectFrom('requests').select(['session', 'key_id']).distinct().where(whereOf(groups));
  return db.selectFrom(each.as('runs')).select(({ fn }) => fn.countAll<number>().as('count'));
}

const sumOf = (columns: readonly string[]) =>
  sql<number>`sum(${sql.join(
    columns.map((column) => sql`coalesce(${sql.ref(column)}, 0)`),
    sql` + `,
  )})`;

/**
 * Which runs come first of those of a filter. Nothing else is read of their requests: there may be as many runs as requests. Without a filter
 * the index alone is read.
 */
export function latestQuery(
  { db }: Pick<Store, 'db'>,
  { limit, offset }: Slice,
  groups: ListQuery['groups'] = [],
) {
  return db
    .selectFrom('requests')
    .select(['session', 'key_id'])
    .where(whereOf(groups))
    .groupBy(['session', 'key_id'])
    .orderBy(sql`max(started_at) desc`)
    .orderBy('session')
    .limit(limit)
    .offset(offset);
}

/** Requests that are looked at for the latest runs: first for one page, at last too many to go on. */
const LATEST_ROWS = 1_000;
const MOST_ROWS = 64_000;

interface RunKey {
  session: string | null;
  key_id: string | null;
}

/**
 * Which runs come first of all, by the latest requests: the first page of millions of runs needs a few of them. Null where more would have
 * to be looked at than is worth it.
 */
async function latestByTime({ db }: Pick<Store, 'db'>, { limit, offset }: Slice): Promise<RunKey[] | null> {
  for (let most = LATEST_ROWS; most <= MOST_ROWS; most *= 8) {
    const rows = await db
      .selectFrom('requests')
      .select(['session', 'key_id', 'started_at'])
      // As an expression, for the index by time.
      .where(sql<boolean>`coalesce(session, null) is not null`)
      .orderBy('started_at', 'desc')
      .limit(most)
      .execute();
    const isAll = rows.length < most;
    // Of the earliest moment there may be more.
    const earliest = isAll ? Number.NEGATIVE_INFINITY : (rows.at(-1)?.started_at ?? 0);
    const runs = new Map<string, (typeof rows)[number]>();
    for (const row of rows) {
      const run = runOf(row.session, row.key_id);
      if (row.started_at > earliest && !runs.has(run)) runs.set(run, row);
    }
    if (!isAll && runs.size < offset + limit) continue;
    return [...runs.values()].sort(laterFirst).slice(offset, offset + limit);
  }
  return null;
}

function laterFirst(
  one: { session: string | null; started_at: number },
  other: { session: string | null; started_at: number },
): number {
  return other.started_at - one.started_at || ((one.session ?? '') < (other.session ?? '') ? -1 : 1);
}

async function latestRuns(store: Pick<Store, 'db'>, slice: Slice): Promise<ToolRun[]> {
  const latest: RunKey[] = (await latestByTime(store, slice)) ?? (await latestQuery(store, slice).execute());
  return runsOf(store, latest, [[]]);
}

/** A page of the runs with requests that a filter leaves, and how many there are. */
async function filteredRuns(
  store: Pick<Store, 'db'>,
  { groups, ...slice }: Slice & Pick<ListQuery, 'groups'>,
): Promise<{ rows: ToolRun[]; filtered: number }> {
  const counting = latestQuery(store, slice, groups).select(sql<number>`count(*) over ()`.as('runs'));
  const latest = await counting.execute();
  // A page behind the last run does not tell.
  const filtered = latest[0]?.runs ?? (await countQuery(store, groups).executeTakeFirstOrThrow()).count;
  return { rows: await runsOf(store, latest, groups), filtered };
}

/** The sums of some runs, of their requests that a filter leaves, in the order in which the runs come. */
async function runsOf(
  store: Pick<Store, 'db'>,
  some: readonly RunKey[],
  groups: ListQuery['groups'],
): Promise<ToolRun[]> {
  if (some.length === 0) return [];
  const sessions = [...new Set(some.flatMap(({ session }) => session ?? []))];
  // Runs of other keys may have the same session, and are dropped below.
  const ofSome = { attribute: 'session', operator: '==', value: sessions } as const;
  const rows = await rowsOf(
    store,
    runsQuery(
      store,
      groups.map((group) => [...group, ofSome]),
    ),
  );
  const byRun = new Map(rows.map((run) => [runOf(run.id, run.key_id), run]));
  return some.flatMap(({ session, key_id }) => byRun.get(runOf(session, key_id)) ?? []);
}

function runOf(session: string | null, keyId: string | null): string {
  return JSON.stringify([session, keyId]);
}

async function runs(
  store: Pick<Store, 'db'>,
  { groups, limit, offset }: Slice & Pick<ListQuery, 'groups'>,
): Promise<ToolRun[]> {
  return rowsOf(store, runsQuery(store, groups).limit(limit).offset(offset));
}

/** The runs with requests that a filter leaves, the latest first. */
export function runsQuery({ db }: Pick<Store, 'db'>, groups: ListQuery['groups']) {
  return db
    .selectFrom('requests')
    .select([
      'session',
      'key_id',
      sql<string | null>`max(${clientColumn})`.as('client'),
      sql<number>`min(started_at)`.as('began'),
      sql<number>`max(started_at + duration_ms)`.as('ended'),
      sql<number>`count(*)`.as('requests'),
      sql<number>`count(*) filter (where outcome = 'failed')`.as('failed'),
      sumOf(inputColumns).as('input'),
      sumOf(outputColumns).as('output'),
      sql<number | null>`sum(cost_usd)`.as('cost'),
    ])
    .where(whereOf(groups))
    .groupBy(['session', 'key_id'])
    .orderBy(sql`max(started_at) desc`)
    .orderBy('session');
}

async function rowsOf(
  store: Pick<Store, 'db'>,
  query: Pick<ReturnType<typeof runsQuery>, 'execute'>,
): Promise<ToolRun[]> {
  const rows = await query.execute();
  const names = await namesOf(
    store,
    'keys',
    rows.map(({ key_id }) => key_id),
  );
  return rows.map((row) => ({
    id: row.session ?? '',
    client: row.client,
    key_id: row.key_id,
    key_name: names.get(row.key_id) ?? null,
    started_at: new Date(row.began).toISOString(),
    ended_at: new Date(row.ended).toISOString(),
    requests: row.requests,
    failed: row.failed,
    input_tokens: row.input,
    output_tokens: row.output,
    cost_usd: row.cost === null ? null : exact(row.cost),
  }));
}
