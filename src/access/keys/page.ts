import { type RawBuilder, sql } from 'kysely';
import type { Condition, ListQuery } from '../../http/resource.ts';

/** How keys are filtered and ordered in the database. */
export interface KeyPageQuery {
  conditions: readonly RawBuilder<boolean>[];
  order: readonly RawBuilder<unknown>[];
  /** Whether all keys are asked for, those that were used last first. */
  isByLatestUse: boolean;
  limit: number;
  offset: number;
}

type Kind = 'text' | 'number' | 'boolean' | 'time';

/** What is shown of a key just as its column has it. */
const columns: Readonly<Record<string, Kind>> = {
  id: 'text',
  name: 'text',
  prefix: 'text',
  owner: 'text',
  team: 'text',
  disabled: 'boolean',
  created_at: 'time',
  expires_at: 'time',
  cache_ttl_seconds: 'number',
};

const nullable: ReadonlySet<string> = new Set(['owner', 'team', 'expires_at', 'cache_ttl_seconds']);

/**
 * The query in the database's own words, so that a page of 100,000 keys is read alone; null for what is worked out of all
 * of them: patterns, alternatives, and what a column does not hold.
 */
export function keyPageQuery({ groups, ignoreCase, limit, offset, sort }: ListQuery): KeyPageQuery | null {
  if (groups.length > 1 || (ignoreCase && sort.length > 0)) return null;
  const conditions = (groups[0] ?? []).map(conditionOf);
  const order = sort.map(({ attribute, descending }) => {
    if (attribute === 'last_used_at') return byLastUse(descending);
    if (!Object.hasOwn(columns, attribute)) return null;
    const column = sql.ref(`keys.${attribute}`);
    const term = sql`${column} ${sql.raw(descending ? 'desc' : 'asc')}`;
    // An order that asks for null first uses no index.
    return nullable.has(attribute) ? sql`${column} is null, ${term}` : term;
  });
  if (!conditions.every((one) => one !== null) || !order.every((one) => one !== null)) return null;
  const [first] = sort;
  const isByLatestUse = conditions.length === 0 && first?.attribute === 'last_used_at' && first.descending;
  return { conditions, order, isByLatestUse, limit, offset };
}

/** One step into the index by key for each key: a second term for null would double them. Keys that were never used come last. */
function byLastUse(descending: boolean): RawBuilder<unknown> {
  const lastUse = sql`(select max(started_at) from requests where requests.key_id = keys.id)`;
  return descending
    ? sql`coalesce(${lastUse}, -1) desc`
    : sql`coalesce(${lastUse}, ${sql.lit(Number.MAX_SAFE_INTEGER)}) asc`;
}

function conditionOf({ attribute, operator, value }: Condition): RawBuilder<boolean> | null {
  const kind = Object.hasOwn(columns, attribute) ? columns[attribute] : undefined;
  if (kind !== 'text' || (operator !== '=' && operator !== '==')) return null;
  const column = sql.ref(`keys.${attribute}`);
  if (value === null) return sql<boolean>`${column} is null`;
  if (typeof value !== 'string' || (operator === '=' && /[*%]/.test(value))) return null;
  return sql<boolean>`${column} = ${value}`;
}
