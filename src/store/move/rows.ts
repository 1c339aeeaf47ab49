import { type RawBuilder, sql } from 'kysely';
import { GatewayError } from '../../lib/error.ts';
import type { Store, Value } from '../database.ts';
import type { Tables } from '../tables.ts';
import type { MovedTable, StoredRow } from './tables.ts';

/** Rows read and written at once. */
const BATCH = 500;
/** How long a store that somebody else writes to is left alone. */
const BUSY_PAUSE_MS = 20;

/** The rows after one, in the order of the table's key; at most one batch. @param after null for the first ones */
export async function rowsAfter(
  table: MovedTable,
  { db }: Pick<Store, 'db'>,
  after: StoredRow | null,
): Promise<StoredRow[]> {
  let select = columnsOf(table, db);
  if (after !== null) {
    const place = sql.join(table.key.map((column) => sql`${after[column]}`));
    select = select.where(sql<boolean>`(${keyOf(table)}) > (${place})`);
  }
  for (const column of table.key) select = select.orderBy(sql.ref(column));
  return (await select.limit(table.batch ?? BATCH).execute()) as StoredRow[];
}

/** The last row in the order of the table's key. */
export async function lastRow(table: MovedTable, { db }: Pick<Store, 'db'>): Promise<StoredRow | null> {
  let select = columnsOf(table, db);
  for (const column of table.key) select = select.orderBy(sql.ref(column), 'desc');
  return ((await select.limit(1).executeTakeFirst()) as StoredRow | undefined) ?? null;
}

/** @throws GatewayError for rows that the store refuses */
export async function writeRows(
  { key, name }: MovedTable,
  to: Pick<Store, 'insertMany'>,
  rows: readonly StoredRow[],
): Promise<void> {
  const [first] = rows;
  if (first === undefined) return;
  const columns = Object.keys(first);
  const values = rows.map((row) => columns.map((column): Value => row[column] ?? null));
  for (;;) {
    let refusal: unknown = null;
    const written = await to.insertMany(name, columns, values, (error) => {
      refusal ??= error;
    });
    if (refusal !== null)
      throw new GatewayError(
        'conflict',
        `The target refuses a row of ${name} between ${placeOf(key, first)} and ${placeOf(key, rows.at(-1) ?? first)}: ${String(refusal)}`,
      );
    if (written) return;
    await new Promise((resolve) => setTimeout(resolve, BUSY_PAUSE_MS));
  }
}

/** The row as the other store has it; null for one that stays behind. */
export function carriedRow(
  { carried }: MovedTable,
  row: StoredRow,
  from: Pick<Store, 'node'>,
  to: Pick<Store, 'node'>,
): StoredRow | null {
  return carried === undefined ? row : carried(row, from, to);
}

/** Where a row is, for people. */
export const placeOf = (key: readonly string[], row: StoredRow): string =>
  key.map((column) => row[column]).join(' ');

/** All tables are read alike here, as the columns that they have. */
function columnsOf({ name }: MovedTable, db: Store['db']) {
  return db.selectFrom(name as 'settings' & keyof Tables).selectAll();
}

function keyOf({ key }: MovedTable): RawBuilder<unknown> {
  return sql.join(key.map((column) => sql.ref(column)));
}
