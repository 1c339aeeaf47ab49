import { hash } from 'node:crypto';
import { sql } from 'kysely';
import { GatewayError } from '../../lib/error.ts';
import type { Store } from '../database.ts';
import { carriedRow, lastRow, placeOf, rowsAfter, writeRows } from './rows.ts';
import { canonical, MOVE_SETTING, type MovedTable, movedTables, type StoredRow } from './tables.ts';

/** What is read of the store that is moved. */
export type MoveSource = Pick<Store, 'db' | 'node' | 'latestRevision'>;

export interface MoveInput {
  from: MoveSource;
  to: Store;
  /** Names the source, so that a move that was cut off is gone on with from there alone. */
  source: string;
  /** Called once the target is marked as unfinished, so that no gateway starts on it any more. What it throws ends the move. */
  onMarked?(): Promise<void>;
  /** Told of each table when it is there and checked, and now and then on the way. */
  progress(table: string, rows: number, done: boolean): void;
}

/** How many rows each table had. */
export type MovedRows = Readonly<Record<string, number>>;

/** Batches between two words of progress. */
const BATCHES_TOLD = 20;

/**
 * Copies the state of one store into another, which must be empty, or have been left behind by a move that was cut off. Each
 * row is compared after it was written. The source stays as it is. Nothing else may write to either meanwhile.
 * @throws GatewayError for a target that has something else in it, and for a row that is not there as it was
 */
export async function moveStore({
  from,
  onMarked = async () => {},
  progress,
  source,
  to,
}: MoveInput): Promise<MovedRows> {
  await beginMove(to, source);
  await onMarked();
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
  const source = await unfinishedMove(db);
  if (source === null) return;
  throw new GatewayError(
    'invalid_request',
    `This database has only a part of the state of ${source}: repeat the command that was interrupted, \`gateway migrate-store\` or \`gateway restore\`, until it ends well`,
  );
}

/** What a move that was cut off has left in a store: the name of its source; null for none. */
async function unfinishedMove(db: Store['db']): Promise<string | null> {
  const note = await db
    .selectFrom('settings')
    .select('value')
    .where('name', '=', MOVE_SETTING)
    .executeTakeFirst();
  return note?.value ?? null;
}

/** What a store has that something is to be moved into. */
export type TargetState =
  | { kind: 'empty' }
  /** A part of what a move of this source has left that was cut off, or of another's. */
  | { kind: 'unfinished'; source: string }
  /** `table` is the first one with rows. */
  | { kind: 'filled'; table: string };

export async function targetState({ db }: Pick<Store, 'db'>): Promise<TargetState> {
  const source = await unfinishedMove(db);
  if (source !== null) return { kind: 'unfinished', source };
  for (const { name } of movedTables) {
    const row = await db.selectFrom(name).select(sql`1`.as('one')).limit(1).executeTakeFirst();
    if (row !== undefined) return { kind: 'filled', table: name };
  }
  return { kind: 'empty' };
}

async function beginMove(to: Store, source: string): Promise<void> {
  const state = await targetState(to);
  if (state.kind === 'unfinished' && state.source === source) return;
  if (state.kind === 'unfinished')
    throw new GatewayError(
      'conflict',
      `The target has a part of the state of ${state.source}: go on with that, or empty the target`,
    );
  if (state.kind === 'filled')
    throw new GatewayError(
      'conflict',
      `The target is not empty: its table ${state.table} has rows. Move into a new database, or a new data directory`,
    );
  await to.db.insertInto('settings').values({ name: MOVE_SETTING, value: source }).execute();
}

/** @param revision how often the settings of the source were changed */
export async function endMove({ db, kind }: Store, revision: number): Promise<void> {
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

async function copy(
  table: MovedTable,
  { from, progress, to }: Pick<MoveInput, 'from' | 'progress' | 'to'>,
): Promise<void> {
  let batches = 0;
  let rows = 0;
  let after = await lastRow(table, to);
  // What a gateway has for itself is named otherwise there.
  if (table.carried !== undefined) after = null;
  for (;;) {
    const read = await rowsAfter(table, from, after);
    const last = read.at(-1);
    if (last === undefined) return;
    after = last;
    const carried = read.map((row) => carriedRow(table, row, from, to)).filter((row) => row !== null);
    await writeRows(table, to, carried);
    rows += read.length;
    batches += 1;
    if (batches % BATCHES_TOLD === 0) progress(table.name, rows, false);
  }
}

/** Reads both stores in the same order, and compares row for row. @returns how many there are */
async function compare(table: MovedTable, from: MoveSource, to: Store): Promise<number> {
  const sourceDigests = digests(table, from, (row) => carriedRow(table, row, from, to));
  const there = digests(table, to, (row) => (isNote(table, row) ? null : row));
  let rows = 0;
  for (;;) {
    const [one, other] = [await sourceDigests.next(), await there.next()];
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
  store: Pick<Store, 'db'>,
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
