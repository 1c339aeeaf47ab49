import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { type Migration, sql } from 'kysely';
import { createLockWait } from './lock-wait.ts';
import { type MigrateOptions, migrate } from './migrate.ts';
import { migrations } from './migrations/index.ts';
import { isEmpty, readPreparedSchema, statementsOf } from './new-database.ts';
import { kyselyOver, openDatabase } from './sqlite.ts';

describe('the prepared schema', () => {
  let dataDir = '';
  let open: DatabaseSync[] = [];

  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'modelgate-prepared-'));
    open = [];
  });

  afterEach(() => {
    for (const database of open) database.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  function database(): DatabaseSync {
    const made = openDatabase(join(dataDir, `${open.length}.db`));
    open.push(made);
    return made;
  }

  async function migrated(
    over: DatabaseSync,
    options: Pick<MigrateOptions, 'migrations' | 'prepared'> = {},
  ): Promise<DatabaseSync> {
    const path = join(dataDir, 'modelgate.db');
    const lockWait = createLockWait({ path });
    await migrate(over, kyselyOver(over, lockWait), { dataDir, path, lockWait, now: () => 0, ...options });
    return over;
  }

  it('equals the result of all migrations', async () => {
    const stepwise = await migrated(database(), { prepared: () => null });
    const atOnce = await migrated(database());
    assert.deepEqual(schemaOf(atOnce), schemaOf(stepwise));
    assert.deepEqual(contentOf(atOnce), contentOf(stepwise));
  });

  it('matches the digest of its migrations', async () => {
    const { migrations: names, statements } = readPreparedSchema();
    assert.deepEqual(names, Object.keys(migrations).slice(0, names.length));
    const own = Object.fromEntries(Object.entries(migrations).filter(([name]) => names.includes(name)));
    const stepwise = await migrated(database(), { migrations: own, prepared: () => null });
    assert.deepEqual(statements, statementsOf(stepwise));
  });

  it('is followed by the migrations that are not in it', async () => {
    const more = { ...migrations, '9001-more': making('more') };
    const made = await migrated(database(), { migrations: more });
    assert.ok(schemaOf(made).some(({ name }) => name === 'more'));
    assert.deepEqual(namesIn(made), Object.keys(more));
  });

  it('is not used if the migrations are different', async () => {
    const others = { '0001-other': making('other') };
    const made = await migrated(database(), { migrations: others });
    assert.deepEqual(
      schemaOf(made)
        .map(({ name }) => name)
        .filter((name) => !name.startsWith('sqlite_')),
      ['kysely_migration', 'other'],
    );
  });

  it('is not used if tables exist, and leaves nothing when it fails', async () => {
    const used = database();
    used.exec('create table keys (id)');
    await assert.rejects(migrated(used), /0001-first failed/);
    const broken = database();
    const prepared = () => ({
      ...readPreparedSchema(),
      statements: ['create table keys (id)', 'no statement'],
    });
    await assert.rejects(migrated(broken, { prepared }), /the prepared schema failed/);
    assert.ok(isEmpty(broken));
  });
});

/** A migration that makes a table. */
function making(table: string): Migration {
  return {
    async up(db) {
      await sql`create table ${sql.ref(table)} (id)`.execute(db);
    },
  };
}

function schemaOf(database: DatabaseSync) {
  return database
    .prepare('select type, name, tbl_name, sql from sqlite_master order by type, name')
    .all()
    .map((row) => ({ ...row, type: String(row['type']), name: String(row['name']) }));
}

function namesIn(database: DatabaseSync): string[] {
  return database
    .prepare('select name from kysely_migration order by name')
    .all()
    .map(({ name }) => String(name));
}

/** Every row of every table. */
function contentOf(database: DatabaseSync) {
  const tables = schemaOf(database).filter(({ type }) => type === 'table');
  return tables.map(({ name }) => ({
    name,
    rows: database
      .prepare(`select * from "${name}"`)
      .all()
      .map((row) => ({ ...row })),
  }));
}
