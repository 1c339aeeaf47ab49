import { hash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { GatewayError } from '../../lib/error.ts';
import type { Store, Value } from '../database.ts';
import type { Tables } from '../tables.ts';
import { canonical, MOVE_SETTING, type MovedTable, movedTables, type StoredRow } from './tables.ts';

export interface MoveInput {
  from: Store;
  to: Store;
  /** Names the source, so that a move that was cut off is gone on with from there alone. */
  source: string;
  /** Told of each table when it is there and checked, and now and then on the way. */
  progress(table: string, rows: number, done: boolean): void;
}

/** How many rows each table had. */
export type Moved = Readonly<Record<string, number>>;

/** Rows read and written at once. */
const BATCH = 500;
/** Batches between two words of progress. */
const BATCHES_TOLD = 20;

/**
 * Copies the state of one store into another, which must be empty, or have been left behind by a move that was cut off. Each
 * row is compared after it was written. The source stays as it is. Nothing else may write to either meanwhile.
 * @throws GatewayError for a target that has something else in it, and for a row that is not there as it was
 */
export async function moveStore({ from, progress, source, to }: MoveInput): Promise<Moved> {
  await beginMove(to, source);
  const moved: Record<string, number> = {};
  for (const table of movedTables) {
    await copy(table, { from, to, progress });
    moved[table.name] = await compare(table, from, to);
    progress(table.name, moved[table.name] ?? 0, true);
  }
  await endMove(to, await from.latestRevision());
  return moved;
}

/** @throws GatewayError for a store that a move was cut off in: it has a part of another's state */
export async function refuseUnfinishedMove({ db }: Pick<Store, 'db'>): Promise<void> {
  const note = await db
    .selectFrom('settings')
    .select('value')
    .where('name', '=', MOVE_SETTING)
    .executeTakeFirst();
  if (note === undefined) return;
  throw new GatewayError(
    'invalid_request',
    `This database has only a part of the state of ${note.value}: repeat \`gateway migrate-store\` until it ends well`,
  );
}

async function beginMove({ db }: Store, source: string): Promise<void> {
  const note = await db
    .selectFrom('settings')
    .select('value')
    .where('name', '=', MOVE_SETTING)
    .executeTakeFirst();
  if (note?.value === source) return;
  if (note !== undefined)
    throw new GatewayError(
      'conflict',
      `The target has a part of the state of ${note.value}: go on with that, or empty the target`,
    );
  for (const { name } of movedTables) {
    const row = await db.selectFrom(name).select(sql`1`.as('one')).limit(1).executeTakeFirst();
    if (row !== undefined)
      throw new GatewayError(
        'conflict',
        `The target is not empty: its table ${name} has rows. Move into a new database, or a new data directory`,
      );
  }
  await db.insertInto('settings').values({ name: MOVE_SETTING, value: source }).execute();
}

async function endMove({ db, kind }: Store, revision: number): Promise<void> {
  // Numbers go on where they were, also where they were written as they are.
  if (kind === 'postgres')
    for (const table of ['event_configs', 'archived_sums'])
      await sql`select setval(pg_get_serial_sequence(${sql.lit(table)}, 'number'),
        (select coalesce(max(number), 0) + 1 from ${sql.table(table)}), false)`.execute(db);
  await db.deleteFrom('settings').where('name', '=', MOVE_SETTING).execute();
  await db
    .updateTable('revision')
    .set((row) => ({ value: row('value', '+', revision + 1) }))
    .execute();
}

async function copy(table: MovedTable, { from, progress, to }: Omit<MoveInput, 'source'>): Promise<void> {
  let batches = 0;
  let rows = 0;
  let after = await lastOf(table, to);
  // What a gateway has for itself is named otherwise there.
  if (table.carried !== undefined) after = null;
  for (;;) {
    const read = await rowsAfter(table, from, after);
    const last = read.at(-1);
    if (last === undefined) return;
    after = last;
    const carried = read.map((row) => carriedRow(table, row, from, to)).filter((row) => row !== null);
    await write(table, to, carried);
    rows += read.length;
    batches += 1;
    if (batches % BATCHES_TOLD === 0) progress(table.name, rows, false);
  }
}

function carriedRow(table: MovedTable, row: StoredRow, from: Store, to: Store): StoredRow | null {
  return table.carried === undefined ? row : table.carried(row, from, to);
}

async function write({ key, name }: MovedTable, to: Store, rows: readonly StoredRow[]): Promise<void> {
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

const BUSY_PAUSE_MS = 20;

const placeOf = (key: readonly string[], row: StoredRow): string =>
  key.map((column) => row[column]).join(' ');

/** Reads both stores in the same order, and compares row for row. @returns how many there are */
async function compare(table: MovedTable, from: Store, to: Store): Promise<number> {
  const wanted = digests(table, from, (row) => carriedRow(table, row, from, to));
  const there = digests(table, to, (row) => (isNote(table, row) ? null : row));
  let rows = 0;
  for (;;) {
    const [one, other] = [await wanted.next(), await there.next()];
    if (one.done === true && other.done === true) return rows;
    if (one.done === true || other.done === true || one.value.digest !== other.value.digest) {
      const place = one.done === true ? other.value?.place : one.value.place;
      throw new GatewayError(
        'conflict',
        `The table ${table.name} differs at ${place}: was a gateway running? Nothing is lost: empty the target and begin again`,
      );
    }
    rows += 1;
  }
}

function isNote({ name }: MovedTable, row: StoredRow): boolean {
  return name === 'settings' && row['name'] === MOVE_SETTING;
}

interface Digest {
  place: string;
  digest: string;
}

async function* digests(
  table: MovedTable,
  store: Store,
  as: (row: StoredRow) => StoredRow | null,
): AsyncGenerator<Digest, undefined> {
  for (let after: StoredRow | null = null; ; ) {
    const rows: StoredRow[] = await rowsAfter(table, store, after);
    const last = rows.at(-1);
    if (last === undefined) return undefined;
    after = last;
    for (const row of rows) {
      const carried = as(row);
      if (carried !== null)
        yield { place: placeOf(table.key, carried), digest: hash('sha256', canonical(carried), 'base64url') };
    }
  }
}

async function rowsAfter(table: MovedTable, store: Store, after: StoredRow | null): Promise<StoredRow[]> {
  let select = all(table, store);
  if (after !== null) {
    const place = sql.join(table.key.map((column) => sql`${after[column]}`));
    select = select.where(sql<boolean>`(${keyOf(table)}) > (${place})`);
  }
  for (const column of table.key) select = select.orderBy(sql.ref(column));
  return (await select.limit(BATCH).execute()) as unknown as StoredRow[];
}

async function lastOf(table: MovedTable, store: Store): Promise<StoredRow | null> {
  let select = all(table, store);
  for (const column of table.key) select = select.orderBy(sql.ref(column), 'desc');
  return ((await select.limit(1).executeTakeFirst()) as unknown as StoredRow | undefined) ?? null;
}

/** All tables are read alike here, as the columns that they have. */
function all({ name }: MovedTable, { db }: Store) {
  return db.selectFrom(name as 'settings' & keyof Tables).selectAll();
}

function keyOf({ key }: MovedTable): RawBuilder<unknown> {
  return sql.join(key.map((column) => sql.ref(column)));
}
