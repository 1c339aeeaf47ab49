import { hash } from 'node:crypto';
import type { Store, Value } from '../database.ts';
import { ownIds } from '../node-name.ts';
import { storable } from '../storable.ts';
import type { Tables } from '../tables.ts';

export type StoredRow = Readonly<Record<string, Value>>;

/** How a table is moved from one store to another. */
export interface MovedTable {
  name: keyof Tables;
  /** In this order rows are read; no two have the same. */
  key: readonly string[];
  /** Rows that are in memory at once, where each may have megabytes. */
  batch?: number;
  /** The row as the other store has it; null for one that stays behind. */
  carried?(row: StoredRow, from: Pick<Store, 'node'>, to: Pick<Store, 'node'>): StoredRow | null;
}

/** Rows that one gateway has for itself: they are named after it where several share the store. */
const owned =
  (column: string): NonNullable<MovedTable['carried']> =>
  (row, from, to) => {
    const own = ownIds(from).own(String(row[column]));
    return own === null ? null : { ...row, [column]: ownIds(to).stored(own) };
  };

const LARGE_ROWS = 10;

/**
 * What is moved, in an order in which no row refers to one that is not there yet. Left behind are `revision`, which each
 * store counts for itself, what is true of running gateways alone (`leases`, `nodes`, `key_changes`, `job_runs`), and what is made of
 * the requests and made again: `usage_sums`, `usage_spans`, `packed_sums`, `sum_rollups`, `counted_values`, `value_counts` and `run_totals`.
 */
export const movedTables: readonly MovedTable[] = [
  { name: 'users', key: ['id'] },
  { name: 'tokens', key: ['id'] },
  { name: 'login_failures', key: ['subject'] },
  { name: 'keys', key: ['id'] },
  { name: 'connections', key: ['id'] },
  { name: 'combos', key: ['id'] },
  { name: 'aliases', key: ['id'] },
  { name: 'budgets', key: ['id'] },
  { name: 'budget_thresholds', key: ['budget_id', 'kind', 'reached_at'] },
  { name: 'budget_tallies', key: ['key'], carried: owned('key') },
  { name: 'alerts', key: ['id'] },
  { name: 'alert_digests', key: ['alert_id'] },
  { name: 'services', key: ['id'], carried: owned('id') },
  {
    name: 'tasks',
    key: ['id'],
    carried: (row, _, { node }) => ({ ...row, node: node === '' ? null : node }),
  },
  { name: 'tunnels', key: ['id'], carried: owned('id') },
  { name: 'agents', key: ['id'] },
  { name: 'saved_views', key: ['id'] },
  { name: 'event_configs', key: ['number'], batch: LARGE_ROWS },
  { name: 'former_names', key: ['id'] },
  { name: 'idempotency', key: ['user_id', 'name'] },
  { name: 'standings', key: ['connection_id', 'model'] },
  { name: 'response_places', key: ['id', 'key_id'] },
  { name: 'responses', key: ['id', 'key_id'], batch: LARGE_ROWS },
  { name: 'traces', key: ['id'] },
  { name: 'requests', key: ['id'] },
  { name: 'archived_sums', key: ['number'] },
  { name: 'archived_spans', key: ['step_ms', 'at'] },
  {
    name: 'settings',
    key: ['name'],
    // The note of the move itself.
    carried: (row) => (row['name'] === MOVE_SETTING ? null : row),
  },
];

/** The setting that a store has while it is being filled. */
export const MOVE_SETTING = 'store_move';

/** A row as text that is the same for the same content, whichever store it is from. Of bytes it has the digest alone. */
export function canonical(row: StoredRow): string {
  const members = Object.keys(row)
    .sort()
    .map((name) => {
      const value = row[name] ?? null;
      if (typeof value === 'string') return [name, storable(value)];
      return value instanceof Uint8Array
        ? [name, { sha256: hash('sha256', value, 'base64url') }]
        : [name, value];
    });
  return JSON.stringify(members);
}
