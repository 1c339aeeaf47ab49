import { chmodSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { type Kysely, Migrator } from 'kysely';
import { GatewayError } from '../lib/error.ts';
import { migrations } from './migrations/index.ts';

const SNAPSHOTS_KEPT = 5;

/**
 * Brings the schema up to this version, forward only. A database that already holds something is first copied
 * to `DATA_DIR/backups/before-….db`.
 * @throws GatewayError when a newer version wrote the database; nothing is changed then
 */
export async function migrate<Tables>(
  database: DatabaseSync,
  db: Kysely<Tables>,
  { dataDir, now }: { dataDir: string; now: () => number },
): Promise<void> {
  const known = Object.keys(migrations);
  const applied = appliedMigrations(database);
  const unknown = applied.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new GatewayError(
      'invalid_request',
      `The data directory ${dataDir} was written by a newer Modelgate (its schema has ${unknown.join(', ')}, this version knows up to ${known.at(-1)}): update Modelgate, or restore a copy from ${join(dataDir, 'backups')}`,
    );
  }
  if (applied.length === known.length) return;
  if (applied.length > 0) snapshot(database, dataDir, `${applied.at(-1)}-${known.at(-1)}`, now());
  const migrator = new Migrator({ db, provider: { getMigrations: async () => ({ ...migrations }) } });
  const { error, results } = await migrator.migrateToLatest();
  if (error === undefined) return;
  const failed = results?.find(({ status }) => status === 'Error')?.migrationName ?? 'a migration';
  throw new GatewayError(
    'internal_error',
    `The database could not be brought up to date: ${failed} failed (${String(error)}). Nothing was changed`,
    {
      cause: error,
    },
  );
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

/** A consistent copy beside the database, readable by its owner only. The oldest copies beyond the limit go. */
function snapshot(database: DatabaseSync, dataDir: string, span: string, now: number): void {
  const folder = join(dataDir, 'backups');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const time = new Date(now).toISOString().replace(/[:.]/g, '-');
  const path = join(folder, `before-${time}-${span}.db`);
  database.prepare('vacuum into ?').run(path);
  chmodSync(path, 0o600);
  const copies = readdirSync(folder)
    .filter((name) => name.startsWith('before-'))
    .sort();
  for (const name of copies.slice(0, -SNAPSHOTS_KEPT)) rmSync(join(folder, name), { force: true });
}
