import { readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Kysely, Migration } from 'kysely';
import { GatewayError } from '../lib/error.ts';
import { makeFolder } from '../lib/files/folder.ts';
import type { LockWait } from './lock-wait.ts';
import { migrations as released } from './migrations/index.ts';
import { isEmpty, type PreparedSchema, readPreparedSchema } from './new-database.ts';
import { openDatabase } from './sqlite.ts';

const SNAPSHOTS_KEPT = 5;

/** Migrations by name; the order of the names is the order of the changes. */
export type Migrations = Readonly<Record<string, Migration>>;

export interface MigrateOptions {
  dataDir: string;
  path: string;
  /** Milliseconds since the epoch. */
  now: () => number;
  lockWait: LockWait;
  migrations?: Migrations;
  /** What the first migrations make of an empty database; default: what belongs to this version. */
  prepared?: () => PreparedSchema | null;
}

/**
 * Brings the schema up to this version, forward only. An empty database gets the prepared schema, which is the same as
 * that of the migrations one after the other. A database that already holds something is first copied
 * to `DATA_DIR/backups/before-….db`. All of it is one transaction that begins as a writer: a failing migration
 * leaves the old schema, and of two processes the second one waits and then finds the work done. Kysely's own
 * migrator does neither with SQLite.
 * @param db a Kysely instance over `database`
 * @throws GatewayError when a newer version wrote the database, or a migration failed; nothing is changed then
 */
export async function migrate<Tables>(
  database: DatabaseSync,
  db: Kysely<Tables>,
  { dataDir, lockWait, migrations = released, now, path, prepared = readPreparedSchema }: MigrateOptions,
): Promise<void> {
  const migrationNames = Object.keys(migrations);
  const pendingAtFirst = await lockWait.retry(() => pendingOf(database, migrationNames, dataDir));
  if (pendingAtFirst.length === 0) return;
  let current = 'the list of migrations';
  await lockWait.retry(() => database.exec('begin immediate'));
  try {
    const pending = pendingOf(database, migrationNames, dataDir);
    const last = appliedMigrations(database).at(-1);
    if (last !== undefined && pending.length > 0) {
      current = 'the copy made before';
      snapshot(path, dataDir, `${last}-${migrationNames.at(-1)}`, now());
    }
    const isNew = isEmpty(database);
    // The table that Kysely's migrator would make, so that it could take over.
    database.exec(
      'create table if not exists kysely_migration (name varchar(255) primary key not null, timestamp varchar(255) not null)',
    );
    const applied = database.prepare('insert into kysely_migration (name, timestamp) values (?, ?)');
    current = 'the prepared schema';
    const schema = isNew ? fitting(prepared(), migrationNames) : null;
    if (schema !== null) database.exec(schema.statements.join(';\n'));
    const done = new Set(schema?.migrations);
    for (const name of pending) {
      current = name;
      if (!done.has(name)) await migrations[name]?.up(db);
      applied.run(name, new Date(now()).toISOString());
    }
    database.exec('commit');
  } catch (error) {
    if (database.isTransaction) database.exec('rollback');
    if (error instanceof GatewayError) throw error;
    throw new GatewayError(
      'internal_error',
      `The database ${path} could not be brought up to date: ${current} failed (${String(error)}). Nothing was changed`,
      { cause: error },
    );
  }
}

/** The schema, where it is what the first of these migrations make. */
function fitting(schema: PreparedSchema | null, known: readonly string[]): PreparedSchema | null {
  return schema?.migrations.every((name, index) => known[index] === name) ? schema : null;
}

/** @throws GatewayError when a newer version wrote the database */
function pendingOf(database: DatabaseSync, known: readonly string[], dataDir: string): string[] {
  const applied = appliedMigrations(database);
  const unknown = applied.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new GatewayError(
      'invalid_request',
      `The data directory ${dataDir} was written by a newer Modelgate (its schema has ${unknown.join(', ')}, this version knows up to ${known.at(-1)}): update Modelgate, or restore a copy from ${join(dataDir, 'backups')}`,
    );
  }
  return known.filter((name) => !applied.includes(name));
}

function appliedMigrations(database: DatabaseSync): string[] {
  const table = database
    .prepare("select 1 from sqlite_master where type = 'table' and name = 'kysely_migration'")
    .get();
  if (table === undefined) return [];
  return database
    .prepare('select name from kysely_migration order by name')
    .all()
    .map((row) => String(row['name']));
}

/**
 * A consistent copy beside the database, readable by its owner only, made by a connection of its own because
 * SQLite copies nothing inside a transaction. It gets its name when it is whole. The oldest copies beyond the
 * limit go.
 */
function snapshot(path: string, dataDir: string, span: string, now: number): void {
  const folder = join(dataDir, 'backups');
  makeFolder(folder);
  const time = new Date(now).toISOString().replace(/[:.]/g, '-');
  const copy = join(folder, `before-${time}-${span}.db`);
  const partial = `${copy}.partial`;
  rmSync(partial, { force: true });
  // SQLite writes into an empty file that exists, which keeps the mode.
  writeFileSync(partial, '', { mode: 0o600, flag: 'wx' });
  const reader = openDatabase(path);
  try {
    reader.prepare('vacuum into ?').run(partial);
  } finally {
    reader.close();
  }
  renameSync(partial, copy);
  const copies = readdirSync(folder)
    .filter((name) => name.startsWith('before-') && name.endsWith('.db'))
    .sort();
  for (const name of copies.slice(0, -SNAPSHOTS_KEPT)) rmSync(join(folder, name), { force: true });
}
