import { type RawBuilder, sql } from 'kysely';
import { MAX_COUNT } from '../codecs/json/values.ts';
import type { Condition, ListQuery } from '../http/resource.ts';
import { GatewayError } from '../lib/error.ts';
import type { Store } from '../store/database.ts';
import { buckets, inputColumns, otherColumns, outputColumns } from './buckets.ts';
import { clientColumn } from './counted-columns.ts';
import { countOfRequests } from './kept-sums/read.ts';
import { keyNameColumn } from './names.ts';
import { entryOf, type LedgerRow } from './report.ts';
import { timeOf } from './requests/time-filter.ts';
import { hasTagThat } from './tag-column.ts';

/** A page of requests in the database's own words: there may be millions. */
export interface RequestPage {
  rows: LedgerRow[];
  count: number;
  filtered: number;
}

/**
 * The requests that a query asks for; the newest first where it names no order. What is null comes last in either order.
 * @throws GatewayError `invalid_request` for what cannot be filtered or sorted by
 */
export async function requestPage(store: Pick<Store, 'db'>, query: ListQuery): Promise<RequestPage> {
  const condition = conditionOf(query.groups);
  let select = store.db.selectFrom('requests').selectAll();
  if (condition !== null) select = select.where(condition);
  for (const term of orderOf(query)) select = select.orderBy(term);
  const rows = await select.limit(query.limit).offset(query.offset).execute();
  const count = await countOfRequests(store);
  const filtered = condition === null ? count : await countOfFitting(store, query.groups, condition);
  return { rows: rows.map(entryOf), count, filtered };
}

/** How many requests a filter leaves. */
async function countOfFitting(
  store: Pick<Store, 'db'>,
  groups: ListQuery['groups'],
  condition: RawBuilder<boolean>,
): Promise<number> {
  const time = timeOf(groups);
  if (time !== null) return countOfRequests(store, time);
  const { count } = await store.db
    .selectFrom('requests')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where(condition)
    .executeTakeFirstOrThrow();
  return count;
}

/** The request of an id; null when there is none. */
export async function requestById(store: Pick<Store, 'db'>, id: string): Promise<LedgerRow | null> {
  const row = await store.db.selectFrom('requests').selectAll().where('id', '=', id).executeTakeFirst();
  return row === undefined ? null : entryOf(row);
}

type Expression = RawBuilder<unknown>;

interface Attribute {
  kind: 'text' | 'number' | 'boolean' | 'time';
  value: Expression;
  /** Whether it may be null. An order that asks for null first cannot use an index. */
  nullable: boolean;
}

const known = (kind: Attribute['kind'], column: string): Attribute => ({
  kind,
  value: sql`${sql.ref(column)}`,
  nullable: false,
});
const perhaps = (kind: Attribute['kind'], column: string): Attribute => ({
  ...known(kind, column),
  nullable: true,
});
/** Columns of usage that came with a later schema are null in older rows, for none. */
const zeroed = (column: string): Expression => sql`coalesce(${sql.ref(column)}, 0)`;
const used = (value: Expression): Attribute => ({
  kind: 'number',
  value: sql`case when input_tokens is not null then ${value} end`,
  nullable: true,
});
const total = (columns: readonly string[]): Attribute => used(sql.join(columns.map(zeroed), sql` + `));

/** As `isCapped` says of an entry. */
const capped = sql`(${sql.join(
  [inputColumns, outputColumns, ...otherColumns.map((column) => [column])].map(
    (columns) => sql`${sql.join(columns.map(zeroed), sql` + `)} >= ${sql.lit(MAX_COUNT)}`,
  ),
  sql` or `,
)})`;

/** As `costUnknownReason` says of an entry. */
const costUnknown = sql`case
  when cost_usd is not null or input_tokens is null then null
  when price_source is not null then 'no_unit_price'
  when coalesce(served_tier, 'default') = 'default' then 'no_price'
  else 'no_tier_price' end`;

/** What is shown of a request, as an expression over its columns. */
const attributes: ReadonlyMap<string, Attribute> = new Map([
  ['id', known('text', 'id')],
  ['started_at', known('time', 'started_at')],
  ['status', known('number', 'status')],
  ['outcome', known('text', 'outcome')],
  ['key_id', perhaps('text', 'key_id')],
  ['key_name', { kind: 'text', value: keyNameColumn, nullable: true }],
  ['provider', perhaps('text', 'provider')],
  ['connection', perhaps('text', 'connection')],
  ['connection_id', perhaps('text', 'connection_id')],
  ['format', known('text', 'format')],
  ['requested_model', perhaps('text', 'requested_model')],
  ['combo_id', perhaps('text', 'combo_id')],
  ['model', perhaps('text', 'model')],
  ['streamed', known('boolean', 'streamed')],
  ['input_tokens', total(inputColumns)],
  ['output_tokens', total(outputColumns)],
  ...buckets.map(({ column, name }) => [`usage.${name}`, used(zeroed(column))] as const),
  ['estimated', known('boolean', 'estimated')],
  ['usage_capped', { kind: 'boolean', value: capped, nullable: false }],
  ['cached', known('boolean', 'cached')],
  ['continued', known('number', 'continued')],
  ['asked_tier', perhaps('text', 'asked_tier')],
  ['served_tier', perhaps('text', 'served_tier')],
  ['finish_reason', perhaps('text', 'finish_reason')],
  ['raw_finish_reason', perhaps('text', 'raw_finish_reason')],
  ['cost_unknown', { kind: 'text', value: costUnknown, nullable: true }],
  ['cost_usd', perhaps('number', 'cost_usd')],
  ['cache_savings_usd', perhaps('number', 'cache_savings_usd')],
  ['price_source', perhaps('text', 'price_source')],
  ['ttft_ms', perhaps('number', 'ttft_ms')],
  ['duration_ms', known('number', 'duration_ms')],
  ['attempts', known('number', 'attempts')],
  ['error.code', perhaps('text', 'error_code')],
  ['error.message', perhaps('text', 'error_message')],
  ['upstream_request_id', perhaps('text', 'upstream_request_id')],
  ['user_agent', perhaps('text', 'user_agent')],
  ['client', { kind: 'text', value: clientColumn, nullable: true }],
  ['session', perhaps('text', 'session')],
  [
    'billing',
    { kind: 'text', value: sql`case when on_plan = 1 then 'plan' else 'metered' end`, nullable: false },
  ],
  ['routing_savings_usd', perhaps('number', 'routing_savings_usd')],
]);

function attributeOf(name: string, param: string): Attribute {
  const attribute = attributes.get(name);
  if (attribute === undefined) throw invalid(param, `requests have no order or filter by "${name}"`);
  return attribute;
}

/** One order: the newer of two that sort alike first, so that pages never overlap. */
function orderOf({ ignoreCase, sort }: ListQuery): Expression[] {
  const asked = sort.flatMap(({ attribute, descending }) => {
    const { kind, nullable, value } = attributeOf(attribute, 'sort_by');
    const folded = ignoreCase && kind === 'text' ? sql`lower(${value})` : value;
    const term = descending ? sql`${folded} desc` : sql`${folded} asc`;
    return nullable ? [sql`${value} is null`, term] : [term];
  });
  return [...asked, sql`started_at desc`, sql`id desc`];
}

/** What a filter says of a request; null for nothing. @throws GatewayError `invalid_request` */
export function conditionOf(groups: ListQuery['groups']): RawBuilder<boolean> | null {
  if (groups.length === 0) return null;
  const each = groups.map((group) => sql`(${sql.join([sql`true`, ...group.map(testOf)], sql` and `)})`);
  return sql<boolean>`(${sql.join(each, sql` or `)})`;
}

function testOf({ attribute, operator, value }: Condition): Expression {
  if (attribute === 'tags') return tagTest(operator, value);
  if (attribute === 'text') return textTest(operator, value);
  const about = attributeOf(attribute, 'filter[]');
  switch (operator) {
    case '=':
      return equals(attribute, about, value, true);
    case '==':
      return equals(attribute, about, value, false);
    // Also for null: what is not known does not equal anything.
    case '!=':
      return sql`(${equals(attribute, about, value, true)}) is not true`;
    case '!==':
      return sql`(${equals(attribute, about, value, false)}) is not true`;
    case '<':
      return sql`${about.value} < ${converted(attribute, about, value)}`;
    case '<=':
      return sql`${about.value} <= ${converted(attribute, about, value)}`;
    case '>':
      return sql`${about.value} > ${converted(attribute, about, value)}`;
    case '>=':
      return sql`${about.value} >= ${converted(attribute, about, value)}`;
    case '=~':
    case '!~':
      throw invalid('filter[]', `requests cannot be filtered by patterns: use ${attribute}='*text*'`);
  }
}

/** A list of tags holds a tag, or does not. */
function tagTest(operator: Condition['operator'], value: Condition['value']): Expression {
  if (typeof value !== 'string' || !['=', '==', '!=', '!=='].includes(operator))
    throw invalid('filter[]', `"tags" is compared with = or != and one tag: tags='team=core'`);
  const wildcards = operator === '=' || operator === '!=';
  const tag = { kind: 'text', nullable: false } as const;
  const has = hasTagThat((one) => equals('tags', { ...tag, value: one }, value, wildcards));
  return operator.startsWith('!') ? sql`not ${has}` : has;
}

/** Where a text is looked for. */
const searched = [
  'id',
  'requested_model',
  'model',
  'connection',
  'error_code',
  'error_message',
  'user_agent',
  'session',
  'upstream_request_id',
] as const;

/** A text stands somewhere in a request, in upper or lower case. */
function textTest(operator: Condition['operator'], value: Condition['value']): Expression {
  if (typeof value !== 'string' || value === '' || (operator !== '=' && operator !== '=='))
    throw invalid('filter[]', `"text" goes with = and the text to look for: text='rate limit'`);
  const text = value.toLowerCase();
  const places = searched.map((column) => sql`instr(lower(${sql.ref(column)}), ${text}) > 0`);
  return sql`(${sql.join(places, sql` or `)}) is true`;
}

function equals(name: string, about: Attribute, value: Condition['value'], wildcards: boolean): Expression {
  if (value === null) return sql`${about.value} is null`;
  if (isList(value)) {
    if (value.length === 0) return sql`false`;
    return sql`${about.value} in (${sql.join(value.map((one) => converted(name, about, one)))})`;
  }
  if (wildcards && about.kind === 'text' && typeof value === 'string' && /[*%]/.test(value))
    return like(name, about.value, value);
  return sql`${about.value} = ${converted(name, about, value)}`;
}

/**
 * Text with `*` or `%` for any characters: at its ends, in its middle or both. Made of comparisons that look at each
 * character once; SQLite's own LIKE and GLOB can take very long with many wildcards.
 */
function like(name: string, value: Expression, wanted: string): Expression {
  const parts = wanted.split(/[*%]+/);
  const first = parts[0] ?? '';
  const last = parts.at(-1) ?? '';
  const [between, ...more] = parts.slice(1, -1);
  if (more.length > 0) throw invalid('filter[]', `"${name}" takes text with at most one part between two *`);
  const [ahead, behind] = [characters(first), characters(last)];
  const enough = sql`length(${value}) >= ${ahead + behind}`;
  const tests = [enough];
  if (ahead > 0) tests.push(sql`substr(${value}, 1, ${ahead}) = ${first}`);
  if (behind > 0) tests.push(sql`substr(${value}, length(${value}) - ${behind - 1}) = ${last}`);
  if (between !== undefined) {
    const rest = sql`substr(${value}, ${ahead + 1}, length(${value}) - ${ahead + behind})`;
    // PostgreSQL refuses a negative length, and tests in an order of its own.
    tests.push(sql`case when ${enough} then instr(${rest}, ${between}) > 0 else false end`);
  }
  return sql`(${sql.join(tests, sql` and `)})`;
}

/** Databases count code points. */
function characters(text: string): number {
  return [...text].length;
}

function converted(name: string, { kind }: Attribute, value: Condition['value']): string | number {
  switch (kind) {
    case 'text':
      if (typeof value === 'string') return value;
      break;
    case 'number':
      if (typeof value === 'number') return value;
      break;
    case 'boolean':
      if (value === true || value === 'true') return 1;
      if (value === false || value === 'false') return 0;
      break;
    case 'time': {
      const at = typeof value === 'string' ? Date.parse(value) : Number.NaN;
      if (!Number.isNaN(at)) return at;
      break;
    }
  }
  throw invalid('filter[]', `"${name}" is compared with a ${kind}`);
}

function isList(value: Condition['value']): value is readonly (string | number)[] {
  return Array.isArray(value);
}

function invalid(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', message, { param });
}
