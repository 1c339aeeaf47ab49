import { sql } from 'kysely';
import type { ListQuery, Resource } from '../../http/resource.ts';
import { GatewayError } from '../../lib/error.ts';
import type { Store } from '../../store/database.ts';
import { inputColumns, outputColumns } from '../buckets.ts';
import { namesOf } from '../names.ts';
import { clientColumn, conditionOf } from '../page.ts';
import { type ToolRun, toolRun } from '../schema.ts';
import { exact } from '../sums.ts';
import { requestFilters } from './filters.ts';

/** The runs of tools: the requests of one key that name the same session. It takes the filters of `requests`. */
export function toolRunsResource(store: Pick<Store, 'db'>): Resource {
  return {
    name: 'tool_runs',
    title: 'Tool runs',
    summary:
      'Requests of one key that name the same session, together; the run with the latest request first. It takes the filters of `requests`.',
    record: toolRun,
    read: 'requests:read',
    filters: requestFilters,
    async page(query) {
      if (query.sort.length > 0)
        throw new GatewayError('invalid_request', 'tool runs come with the latest first: leave out sort_by', {
          param: 'sort_by',
        });
      const [rows, count, filtered] = [
        await runs(store, query),
        await countOf(store, []),
        await countOf(store, query.groups),
      ];
      return { rows, count, filtered };
    },
    async find(id) {
      const groups = [[{ attribute: 'session', operator: '==', value: id } as const]];
      const [row] = await runs(store, { groups, limit: 1, offset: 0 });
      return row ?? null;
    },
  };
}

function whereOf(groups: ListQuery['groups']) {
  return sql<boolean>`session is not null and ${conditionOf(groups) ?? sql`true`}`;
}

async function countOf({ db }: Pick<Store, 'db'>, groups: ListQuery['groups']): Promise<number> {
  const each = db.selectFrom('requests').select(['session', 'key_id']).distinct().where(whereOf(groups));
  const { count } = await db
    .selectFrom(each.as('runs'))
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

const sumOf = (columns: readonly string[]) =>
  sql<number>`sum(${sql.join(
    columns.map((column) => sql`coalesce(${sql.ref(column)}, 0)`),
    sql` + `,
  )})`;

async function runs(
  store: Pick<Store, 'db'>,
  { groups, limit, offset }: Pick<ListQuery, 'groups' | 'limit' | 'offset'>,
): Promise<ToolRun[]> {
  const rows = await store.db
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
    .orderBy('session')
    .limit(limit)
    .offset(offset)
    .execute();
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
