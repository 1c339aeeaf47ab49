import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { backUpWhenDue } from '../../src/backup/back-up-when-due.ts';
import { createBackup } from '../../src/backup/create.ts';
import { restoreBackup } from '../../src/backup/restore.ts';
import { limitedKeys } from '../../src/budgets/key-limits.ts';
import { deriveKeys } from '../../src/connections/credentials/seal.ts';
import { connectionStore } from '../../src/connections/store.ts';
import { createLedger } from '../../src/ledger/record.ts';
import type { Store } from '../../src/store/database.ts';
import { refuseUnfinishedMove } from '../../src/store/move/move.ts';
import { rowsAfter } from '../../src/store/move/rows.ts';
import { canonical, movedTables, type StoredRow } from '../../src/store/move/tables.ts';
import { openStoreAt } from '../../src/store/open.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { createWriter } from '../../src/store/writer.ts';
import { hasPostgres } from '../support/brokers/postgres.ts';
import { waitFor } from '../support/gateway/gateway.ts';
import { temporaryFolder } from '../support/machine/folder.ts';
import { runScript } from '../support/machine/process.ts';
import { postgresServer } from '../support/store/engines.ts';
import { madeEntry } from '../support/store/ledger.ts';

const SECRET = 'kJ8vQ2mX5nR7tY1wE4zA6bC9dF3gH0jL';
const sealing = { ...deriveKeys(SECRET), source: 'environment' } as const;
const REQUESTS = 1_201;

interface Place {
  dataDir: string;
  database: string | null;
}

async function fill({ store }: { store: Store }, requests = REQUESTS): Promise<void> {
  await limitedKeys(store, () => 1000).create({ name: 'ci', budget_usd: 0.1 });
  await connectionStore(store, sealing.key).add({
    provider: 'openai',
    name: 'work',
    baseUrl: null,
    apiKey: 'sk-1',
    defaultModel: null,
  });
  const writer = createWriter(store, { flushMs: 3_600_000 });
  const ledger = createLedger(writer);
  for (let index = 0; index < requests; index += 1)
    ledger.record(
      madeEntry({
        id: `req_${String(index).padStart(6, '0')}`,
        startedAt: Date.UTC(2026, index % 12, 15),
        costUsd: index / 3,
        errorMessage: index === 5 ? 'half \ud800 and ü' : null,
      }),
    );
  writer.push(
    'responses',
    ['id', 'key_id', 'created_at', 'connection_id', 'model', 'bytes', 'input', 'response', 'sealed'],
    ['r', 'k', 1, 'c', 'm', 3, '', '', new Uint8Array([0, 255, 7])],
  );
  await writer.stop();
}

async function withStore<T>(place: Place, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStoreAt(place, { follow: false });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Every row that a backup has, as text. */
function contents(place: Place): Promise<Record<string, string[]>> {
  return withStore(place, async (store) => {
    const all: Record<string, string[]> = {};
    for (const table of movedTables) {
      const rows: string[] = [];
      for (let after: StoredRow | null = null; ; ) {
        const batch: StoredRow[] = await rowsAfter(table, store, after);
        after = batch.at(-1) ?? null;
        if (after === null) break;
        rows.push(...batch.map(canonical));
      }
      all[table.name] = rows;
    }
    return all;
  });
}

const backUp = (place: Place, more: Partial<Parameters<typeof createBackup>[0]> = {}) =>
  createBackup({
    ...place,
    output: null,
    storageKey: sealing,
    includeKey: true,
    version: '1.2.3',
    now: Date.now(),
    ...more,
  });

const restore = (place: Place, file: string, more: Partial<Parameters<typeof restoreBackup>[0]> = {}) =>
  restoreBackup({
    ...place,
    file,
    secret: SECRET,
    now: Date.now(),
    owner: () => null,
    onProven: async () => {},
    ...more,
  });

describe('a backup of a database on a server', { skip: !hasPostgres }, () => {
  const postgres = postgresServer();
  const onServer = async (test: TestContext): Promise<Place & { database: string }> => ({
    dataDir: temporaryFolder(test),
    database: await postgres.database(),
  });
  const inFile = (test: TestContext): Place => ({ dataDir: temporaryFolder(test), database: null });
  const sessions = (database: string) =>
    postgres.run(
      database,
      `select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
    );

  it('has the format of a file backup: it moves between the engines, and each row stays the same', async (test) => {
    const [first, server, last] = [inFile(test), await onServer(test), inFile(test)];
    await withStore(first, (store) => fill({ store }));
    const before = await contents(first);
    assert.equal(before['requests']?.length, REQUESTS);
    const there = await restore(server, (await backUp(first)).path);
    assert.deepEqual([there.keyMatches, there.previous], [true, null]);
    assert.match(there.to, /^127\.0\.0\.1:\d+\/test_\d+$/);
    const noted = { name: 'storage_key', value: sealing.responses.name };
    const expected = { ...before, settings: [canonical(noted)] };
    assert.deepEqual(await contents(server), expected);
    const told: number[] = [];
    const { manifest, path } = await backUp(server, { progress: (done) => void told.push(done) });
    assert.deepEqual(
      told.toSorted((one, other) => one - other),
      told,
      'progress goes forward',
    );
    assert.deepEqual(readdirSync(join(server.dataDir, 'backups')), [path.split('/').at(-1)]);
    assert.equal(manifest.members[0]?.name, 'modelgate.db');
    await restore(last, path);
    assert.deepEqual(await contents(last), expected);
  });

  it('is a consistent snapshot, whoever writes meanwhile, and waits for no lock', async (test) => {
    const server = await onServer(test);
    await withStore(server, (store) => fill({ store }));
    const store = await openPostgresStore(server.database, {});
    test.after(() => store.close());
    // Two rows that belong together, always equal; a third one that is inserted with each change of them.
    const settings = (value: number) =>
      store.db.transaction().execute(async (trx) => {
        for (const name of ['a', 'z'])
          await trx
            .insertInto('settings')
            .values({ name, value: String(value) })
            .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: String(value) }))
            .execute();
        await trx
          .insertInto('former_names')
          .values({ id: `n${value}`, name: 'x', removed_at: value })
          .execute();
      });
    await settings(0);
    let written = 0;
    let isWriting = true;
    const writing = (async () => {
      while (isWriting) {
        written += 1;
        await settings(written);
      }
    })();
    await waitFor('the first changes', () => written > 3);
    const { path } = await backUp(server);
    const during = written;
    isWriting = false;
    await writing;
    assert.ok(during > 4, 'changes were made while it ran');
    const copy = inFile(test);
    await restore(copy, path);
    await withStore(copy, async ({ db }) => {
      const rows = await db.selectFrom('settings').selectAll().where('name', 'in', ['a', 'z']).execute();
      const [value, ...others] = new Set(rows.map((row) => Number(row.value)));
      assert.deepEqual(others, [], 'both of one change');
      const names = await db.selectFrom('former_names').select('removed_at').execute();
      assert.equal(names.length, Number(value) + 1);
    });
  });

  it('that is ended leaves no file and no transaction', async (test) => {
    const server = await onServer(test);
    await withStore(server, (store) => fill({ store }));
    const ended = new AbortController();
    const reason = new Error('ended');
    const failing = backUp(server, {
      signal: ended.signal,
      progress: (done) => {
        if (done > 0) ended.abort(reason);
      },
    });
    await assert.rejects(failing, reason);
    assert.deepEqual(readdirSync(join(server.dataDir, 'backups')), []);
    await waitFor('the end of its connection', async () => (await sessions(server.database)).length === 0);
  });

  it('is not limited by the statement timeout of the server', async (test) => {
    const server = await onServer(test);
    await withStore(server, (store) => fill({ store }));
    await postgres.run(
      server.database,
      `create role hurried superuser login; alter role hurried set statement_timeout = '1ms';
        alter role hurried set idle_in_transaction_session_timeout = '1ms'`,
    );
    const database = server.database.replace('postgres@', 'hurried@');
    const { path } = await backUp({ ...server, database });
    assert.ok(existsSync(path));
  });

  it('is refused of a database that is empty, unfinished, or of another version', async (test) => {
    const server = await onServer(test);
    const url = new URL(server.database);
    url.pathname = '/postgres';
    const none = { ...server, database: url.href };
    await assert.rejects(backUp(none), { code: 'not_found', message: /nothing to back up/ });
    const run = (text: string) => postgres.run(server.database, text);
    await run(`insert into settings values ('store_move', 'another one')`);
    await assert.rejects(backUp(server), {
      code: 'invalid_request',
      message: /only a part of the state of another one/,
    });
    await run(`delete from settings; insert into kysely_migration values ('9999-later', 'x')`);
    await assert.rejects(backUp(server), /written by a newer Modelgate/);
    await run(`delete from kysely_migration where name > '0058'`);
    await run(`delete from kysely_migration where name = (select max(name) from kysely_migration)`);
    await assert.rejects(backUp(server), { code: 'conflict', message: /an older version of Modelgate/ });
    assert.deepEqual(readdirSync(join(server.dataDir, 'backups')), []);
  });

  it('is made on a schedule by one of the gateways, which keeps manual ones', async (test) => {
    const [one, other] = [await onServer(test), temporaryFolder(test)];
    await withStore(one, (store) => fill({ store }, 5));
    const asked = await backUp(one);
    const run = (dataDir: string) =>
      withStore({ ...one, dataDir }, async (store) => {
        assert.equal(store.kind, 'postgres');
        const server = { url: one.database, store };
        const [everyMs, keep] = [24 * 3_600_000, 1];
        return backUpWhenDue({
          dataDir,
          server,
          everyMs,
          keep,
          storageKey: sealing,
          version: '1',
          now: Date.now(),
        });
      });
    const first = await run(one.dataDir);
    assert.match(first ?? '', /^scheduled-/);
    assert.deepEqual([await run(other), await run(one.dataDir)], [null, null]);
    await postgres.run(one.database, 'update job_runs set at = 1');
    const second = await run(one.dataDir);
    assert.deepEqual(
      readdirSync(join(one.dataDir, 'backups')).toSorted(),
      [String(second), asked.path.split('/').at(-1)].toSorted(),
    );
  });

  it('is refused without leftovers if the server is away', async (test) => {
    const dataDir = temporaryFolder(test);
    const away = { dataDir, database: 'postgres://gateway:hunter2@127.0.0.1:9/gateway' };
    await assert.rejects(backUp(away), (error: Error) => {
      assert.equal((error as { code?: string }).code, 'database_unreachable');
      return !error.message.includes('hunter2');
    });
    assert.deepEqual(readdirSync(join(dataDir, 'backups')), []);
  });

  it('fails, and leaves nothing, when the server goes away on the way', async (test) => {
    const server = await onServer(test);
    await withStore(server, (store) => fill({ store }));
    const lock = await postgres.lock(server.database, 'saved_views');
    const failing = assert.rejects(backUp(server), { code: 'database_unreachable' });
    await lock.awaited();
    await postgres.server().kill();
    await failing;
    await lock.release();
    assert.deepEqual(readdirSync(join(server.dataDir, 'backups')), []);
    await postgres.server().start();
    await backUp(server);
  });
});

describe('a restore into a database on a server', { skip: !hasPostgres }, () => {
  const postgres = postgresServer();
  const inFile = (test: TestContext): Place => ({ dataDir: temporaryFolder(test), database: null });
  const onServer = async (test: TestContext): Promise<Place & { database: string }> => ({
    dataDir: temporaryFolder(test),
    database: await postgres.database(),
  });
  async function backupOf(test: TestContext, requests = 20): Promise<string> {
    const place = inFile(test);
    await withStore(place, (store) => fill({ store }, requests));
    return (await backUp(place)).path;
  }

  it('makes the tables where there are none, also beside those of events', async (test) => {
    const file = await backupOf(test);
    const server = await onServer(test);
    await postgres.run(server.database, 'drop schema public cascade; create schema public');
    await postgres.run(server.database, 'create table modelgate_events (id text)');
    await restore(server, file);
    assert.equal((await contents(server))['requests']?.length, 20);
  });

  it('is refused while a gateway runs on it, and where it has rows; nothing is changed then', async (test) => {
    const file = await backupOf(test);
    const server = await onServer(test);
    const onProven = () => assert.fail('nobody is asked');
    const gateway = {
      id: 'node_x',
      host: 'h',
      url: 'http://h:1',
      version: '1',
      started_at: 1,
      seen_at: Date.now(),
    };
    await withStore(server, ({ db }) => db.insertInto('nodes').values(gateway).execute());
    await assert.rejects(restore(server, file, { onProven }), {
      code: 'conflict',
      message: /Gateways run on .*h:1/,
    });
    await withStore(server, async ({ db }) => {
      await db.deleteFrom('nodes').execute();
      await db.insertInto('former_names').values({ id: 'x', name: 'x', removed_at: 1 }).execute();
    });
    const before = await contents(server);
    await assert.rejects(restore(server, file, { onProven }), {
      code: 'conflict',
      message: /is not empty: its table former_names has rows\. Nothing was changed\..*createdb/,
    });
    assert.deepEqual(await contents(server), before);
    assert.equal(existsSync(join(server.dataDir, 'backups')), false);
  });

  it('detects a gateway that starts after it began, which detects the restore', async (test) => {
    const file = await backupOf(test);
    const server = await onServer(test);
    const late = restore(server, file, {
      onProven: () =>
        withStore(server, async ({ db }) => {
          const seen = { started_at: 1, seen_at: Date.now() };
          await db
            .insertInto('nodes')
            .values({ id: 'n', host: 'h', url: 'u', version: '1', ...seen })
            .execute();
        }),
    });
    await assert.rejects(late, { code: 'conflict', message: /Gateways run on/ });
    await withStore(server, (store) => assert.rejects(refuseUnfinishedMove(store), /gateway restore/));
  });

  it('that is killed keeps gateways from starting, and can be repeated with the same backup alone', async (test) => {
    const [file, other] = [await backupOf(test, REQUESTS), await backupOf(test)];
    const server = await onServer(test);
    for (const table of ['connections', 'requests']) {
      const script = runScript(
        test,
        import.meta.dirname,
        `const { restoreBackup } = await import('../../src/backup/restore.ts');
         await restoreBackup({
           dataDir: ${JSON.stringify(server.dataDir)}, database: ${JSON.stringify(server.database)},
           file: ${JSON.stringify(file)}, secret: null, now: Date.now(), owner: () => null, onProven: async () => {},
           progress(table) { if (table === '${table}') { say(table); while (true) { /* until it is killed */ } } },
         });`,
      );
      assert.equal(await script.line(), table);
      await script.kill();
      await withStore(server, (store) =>
        assert.rejects(refuseUnfinishedMove(store), /only a part of the state/),
      );
      await assert.rejects(restore(server, other), {
        code: 'conflict',
        message: /has a part of the backup of/,
      });
    }
    await restore(server, file);
    const copy = inFile(test);
    await restore(copy, file);
    const { settings, ...rest } = await contents(server);
    const { settings: _, ...wanted } = await contents(copy);
    assert.deepEqual(rest, wanted);
    assert.equal(settings?.length, 1);
    assert.deepEqual(
      readdirSync(server.dataDir).filter((name) => name.startsWith('.')),
      [],
    );
  });
});
