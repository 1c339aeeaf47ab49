import assert from 'node:assert/strict';
import { randomFillSync } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { temporaryFolder } from '../../test/support/machine/folder.ts';
import { PATIENCE_MS } from '../../test/support/machine/patience.ts';
import { runScript } from '../../test/support/machine/process.ts';
import { GatewayError } from '../lib/error.ts';
import { databasePath, openStore } from './database.ts';
import { createLockWait } from './lock-wait.ts';
import { migrations } from './migrations/index.ts';
import { tableNames } from './tables.ts';

const mode = (path: string) => statSync(path).mode & 0o777;
const here = import.meta.dirname;
const settings = ['name', 'value'] as const;

/** By all threads of this process, to whatever files. */
const bytesWritten = () => Number(/^wchar: (\d+)/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);

/** Migrations on top of the released ones. */
const later = (name: string, ...statements: string[]) => ({
  ...migrations,
  [name]: {
    async up(db: Parameters<(typeof migrations)[string]['up']>[0]) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  },
});

describe('a store', () => {
  it('makes the folder for its owner only, and every file of the database too', async (test) => {
    const dataDir = join(temporaryFolder(test), 'a', 'data');
    const store = await openStore(dataDir);
    store.insertMany('settings', settings, [['a', '1']]);
    assert.equal(mode(dataDir), 0o700);
    const files = readdirSync(dataDir);
    assert.ok(files.includes('modelgate.db-wal'), 'the log is a file of its own: WAL');
    for (const file of files) assert.equal(mode(join(dataDir, file)), 0o600, file);
    await store.close();
    assert.deepEqual(readdirSync(dataDir), ['modelgate.db'], 'the log is folded in at the end');
  });

  it('writes a batch of rows to its log alone, and nothing to temporary files', {
    skip: !existsSync('/proc/self/io'),
  }, async (test) => {
    const store = await openStore(temporaryFolder(test));
    test.after(() => store.close());
    const columns = [
      ...['id', 'started_at', 'key_id', 'connection_id', 'format', 'status', 'outcome'],
      ...['streamed', 'estimated', 'duration_ms', 'attempts', 'user_agent'],
    ];
    for (let batch = 0; batch < 4; batch += 1) {
      const rows = Array.from({ length: 500 }, (_, index) => {
        // Requests end in another order than they came.
        const at = batch * 100 + index;
        const id = `req_${String(at).padStart(20, '0')}${batch}`;
        return [id, at, 'key_1', 'con_1', 'openai-chat', 200, 'ok', 0, 0, 5, 1, 'agent'.repeat(30)];
      });
      const before = bytesWritten();
      assert.equal(store.insertMany('requests', columns, rows), true);
      const written = bytesWritten() - before;
      assert.ok(written < 1_000_000, `${written} bytes for 500 rows of 250 bytes each`);
    }
  });

  it('is in WAL mode', async (test) => {
    const dataDir = temporaryFolder(test);
    await (await openStore(dataDir)).close();
    const database = new DatabaseSync(databasePath(dataDir), { readOnly: true });
    assert.equal(database.prepare('pragma journal_mode').get()?.['journal_mode'], 'wal');
    database.close();
  });

  it('creates nothing on request', async (test) => {
    const dataDir = join(temporaryFolder(test), 'data');
    await assert.rejects(openStore(dataDir, { create: false }), { code: 'not_found' });
    assert.equal(existsSync(dataDir), false);
  });

  it('leaves a file that is not a database unchanged, and says what to do', async (test) => {
    const dataDir = temporaryFolder(test);
    const text = 'this is not a database, and is long enough to be looked at '.repeat(20);
    writeFileSync(databasePath(dataDir), text);
    await assert.rejects(openStore(dataDir), (error: unknown) => {
      assert.ok(error instanceof GatewayError);
      assert.match(error.message, /cannot be used.*backups/);
      return true;
    });
    assert.equal(readFileSync(databasePath(dataDir), 'utf8'), text);
  });

  it('counts a change of a key, connection, user or setting, and no request', async (test) => {
    const store = await openStore(temporaryFolder(test));
    test.after(() => store.close());
    const before = store.revision();
    await store.db.insertInto('settings').values({ name: 'a', value: '1' }).execute();
    await store.db.updateTable('settings').set({ value: '2' }).execute();
    await store.db.deleteFrom('settings').execute();
    assert.equal(store.revision(), before + 3);
    const row = {
      id: 'r',
      started_at: 1,
      format: 'f',
      status: 200,
      outcome: 'ok',
      streamed: 0,
      estimated: 0,
    } as const;
    await store.db
      .insertInto('requests')
      .values({ ...row, duration_ms: 1, attempts: 1 } as never)
      .execute();
    assert.equal(store.revision(), before + 3);
  });

  it('is opened by several processes at once on an empty folder', async (test) => {
    const dataDir = join(temporaryFolder(test), 'data');
    const scripts = [1, 2, 3, 4].map((number) =>
      runScript(
        test,
        here,
        `const { openStore } = await import('./database.ts');
         say('ready');
         await go();
         const store = await openStore(${JSON.stringify(dataDir)});
         await store.db.insertInto('settings').values({ name: 'n${number}', value: '' }).execute();
         await store.close();`,
      ),
    );
    for (const script of scripts) assert.equal(await script.line(), 'ready');
    for (const script of scripts) script.go();
    await Promise.all(scripts.map((script) => script.ended()));
    const store = await openStore(dataDir);
    test.after(() => store.close());
    assert.equal((await store.db.selectFrom('settings').selectAll().execute()).length, 4);
  });
});

describe('writing many rows', () => {
  it('leaves out rows whose key exists, and keeps the first one', async (test) => {
    const store = await openStore(temporaryFolder(test));
    test.after(() => store.close());
    assert.equal(store.insertMany('settings', settings, [['a', 'first']]), true);
    const refused: unknown[] = [];
    store.insertMany(
      'settings',
      settings,
      [
        ['a', 'second'],
        ['b', 'x'],
      ],
      (error) => refused.push(error),
    );
    const rows = await store.db.selectFrom('settings').selectAll().orderBy('name').execute();
    assert.deepEqual(
      rows.map(({ name, value }) => [name, value]),
      [
        ['a', 'first'],
        ['b', 'x'],
      ],
    );
    assert.deepEqual(refused, []);
  });

  it('reports each row that can never be stored, and writes the others', async (test) => {
    const store = await openStore(temporaryFolder(test));
    test.after(() => store.close());
    const refused: unknown[] = [];
    const odd = [
      ['b', null],
      ['c', { an: 'object' }],
      ['d', Number.NaN],
    ] as never[];
    const written = store.insertMany('settings', settings, [['a', '1'], ...odd, ['e', '5']], (error) =>
      refused.push(error),
    );
    assert.equal(written, true);
    const rows = await store.db.selectFrom('settings').select('name').orderBy('name').execute();
    assert.deepEqual(
      rows.map(({ name }) => name),
      ['a', 'e'],
    );
    assert.equal(refused.length, 3);
  });

  it('writes nothing while another process writes, without waiting, and can go on afterwards', async (test) => {
    const dataDir = temporaryFolder(test);
    const store = await openStore(dataDir);
    test.after(() => store.close());
    const other = runScript(
      test,
      here,
      `const { DatabaseSync } = await import('node:sqlite');
       const database = new DatabaseSync(${JSON.stringify(databasePath(dataDir))});
       database.exec('begin immediate');
       say('writing');
       await go();
       database.exec('rollback');
       say('done');
       database.close();`,
    );
    await other.line();
    const began = performance.now();
    assert.equal(store.insertMany('settings', settings, [['a', '1']]), false);
    assert.ok(performance.now() - began < 4_000, 'SQLite waits for 5 s where it is let');
    other.go();
    assert.equal(await other.line(), 'done');
    assert.equal(store.insertMany('settings', settings, [['a', '1']]), true);
    await other.ended();
    assert.equal((await store.db.selectFrom('settings').selectAll().execute()).length, 1);
  });

  it('checkpoints a long log into the database while it runs, and truncates it', async (test) => {
    const dataDir = temporaryFolder(test);
    const store = await openStore(dataDir);
    test.after(() => store.close());
    const text = 'x'.repeat(200_000);
    const log = () => statSync(`${databasePath(dataDir)}-wal`).size;
    let number = 0;
    const write = (batches: number, value: string) => {
      for (let i = 0; i < batches; i += 1) store.insertMany('settings', settings, [[`n${number++}`, value]]);
    };
    for (let time = 0; time < 2; time += 1) {
      write(192, text);
      if (time === 0) assert.ok(log() > 32 * 1024 * 1024);
      const deadline = performance.now() + PATIENCE_MS;
      // A log that was folded in whole is begun anew by the next row, and cut.
      while (log() > 2 * 1024 * 1024 && performance.now() < deadline) {
        await delay(50);
        write(1, '');
      }
      assert.ok(log() <= 2 * 1024 * 1024, `the log still has ${log()} bytes`);
    }
    const row = await store.db
      .selectFrom('settings')
      .select(sql<number>`sum(length(value))`.as('n'))
      .executeTakeFirst();
    assert.equal(row?.n, 2 * 192 * text.length);
  });
});

describe('a database that another process has locked', () => {
  const settled = async (promise: Promise<unknown>): Promise<boolean> => {
    const open = Symbol('open');
    return (await Promise.race([promise.catch(() => {}), delay(0, open)])) !== open;
  };

  it('blocks no other work, and writes complete once the lock is released', async (test) => {
    const dataDir = temporaryFolder(test);
    const store = await openStore(dataDir);
    test.after(() => store.close());
    const other = new DatabaseSync(databasePath(dataDir));
    test.after(() => other.close());
    other.exec('begin exclusive');
    const one = store.db.insertInto('settings').values({ name: 'one', value: '1' }).execute();
    const many = store.db.transaction().execute(async (trx) => {
      await trx.insertInto('settings').values({ name: 'two', value: '2' }).execute();
      await delay(1);
      await trx.insertInto('settings').values({ name: 'three', value: '3' }).execute();
    });
    for (let turn = 0; turn < 20; turn += 1) {
      await delay(1);
      assert.deepEqual(await store.db.selectFrom('settings').selectAll().execute(), []);
      assert.equal(store.revision(), 0);
      assert.equal(store.insertMany('settings', settings, [['never', '']]), false);
    }
    assert.deepEqual([await settled(one), await settled(many)], [false, false]);
    other.exec('rollback');
    await Promise.all([one, many]);
    const rows = await store.db.selectFrom('settings').select('name').orderBy('name').execute();
    assert.deepEqual(
      rows.map(({ name }) => name),
      ['one', 'three', 'two'],
    );
  });

  it('keeps other statements out of a transaction', async (test) => {
    const store = await openStore(temporaryFolder(test));
    test.after(() => store.close());
    const failed = store.db.transaction().execute(async (trx) => {
      await trx.insertInto('settings').values({ name: 'inside', value: '' }).execute();
      await delay(5);
      throw new Error('rolled back');
    });
    const beside = store.db.insertInto('settings').values({ name: 'beside', value: '' }).execute();
    await assert.rejects(failed, /rolled back/);
    await beside;
    const rows = await store.db.selectFrom('settings').select('name').execute();
    assert.deepEqual(
      rows.map(({ name }) => name),
      ['beside'],
    );
  });

  it('fails after a while with an error that names the file', async () => {
    const busy = Object.assign(new Error('database is locked'), { errcode: 517 });
    let waits = 0;
    const lockWait = createLockWait({ path: '/data/modelgate.db', waitMs: 1100, onWait: () => (waits += 1) });
    const refused = lockWait.retry(() => {
      throw busy;
    });
    await assert.rejects(refused, (error: unknown) => {
      assert.ok(error instanceof GatewayError);
      assert.deepEqual([error.code, error.status, error.retryAfter], ['database_busy', 503, 5]);
      assert.match(error.message, /\/data\/modelgate\.db locked/);
      return true;
    });
    assert.equal(waits, 1);
  });
});

describe('a damaged database', () => {
  const key = 'storage.key';

  /** A data directory with rows in its database, closed. */
  async function used(test: Parameters<typeof temporaryFolder>[0]): Promise<string> {
    const dataDir = temporaryFolder(test);
    const store = await openStore(dataDir);
    for (let from = 0; from < 2000; from += 500) {
      const rows = Array.from({ length: 500 }, (_, index) => [`n${from + index}`, 'x'.repeat(200)] as const);
      store.insertMany('settings', settings, rows);
    }
    await store.close();
    writeFileSync(join(dataDir, key), 'a key');
    return dataDir;
  }

  async function refused(dataDir: string, why: RegExp): Promise<void> {
    const path = databasePath(dataDir);
    const before = readFileSync(path);
    await assert.rejects(openStore(dataDir, { check: true }), (error: unknown) => {
      assert.ok(error instanceof GatewayError);
      assert.ok(error.message.includes(path), error.message);
      assert.match(error.message, why);
      assert.match(error.message, /`gateway restore`/);
      return true;
    });
    assert.deepEqual(readFileSync(path), before, 'it is left as it is');
  }

  it('that was emptied, truncated, overwritten or lost tables is not opened', async (test) => {
    const whole = await used(test);
    const bytes = readFileSync(databasePath(whole));
    const damage = async (change: (path: string) => void, why: RegExp) => {
      writeFileSync(databasePath(whole), bytes);
      change(databasePath(whole));
      await refused(whole, why);
    };
    await damage((path) => writeFileSync(path, ''), /it is empty, and storage\.key beside it/);
    await damage((path) => writeFileSync(path, bytes.subarray(0, bytes.length >> 1)), /damaged|malformed/);
    await damage((path) => writeFileSync(path, 'some other text '.repeat(500)), /not a database/);
    await damage((path) => {
      const holes = Buffer.from(bytes);
      for (let at = 8192; at < holes.length; at += 16_384) randomFillSync(holes, at, 2048);
      writeFileSync(path, holes);
    }, /damaged|malformed/);
    await damage((path) => {
      const other = new DatabaseSync(path);
      other.exec('drop table requests; drop table users');
      other.close();
    }, /lacks the tables users, requests/);
    writeFileSync(databasePath(whole), '');
    const foreign = new DatabaseSync(databasePath(whole));
    foreign.exec('create table notes (text)');
    foreign.close();
    await refused(whole, /no database of Modelgate.*notes/);
  });

  it('is opened if its creation was interrupted before it had any content', async (test) => {
    const dataDir = temporaryFolder(test);
    writeFileSync(databasePath(dataDir), '');
    await (await openStore(dataDir)).close();
  });

  it('is detected while it is open', async (test) => {
    const dataDir = await used(test);
    const path = databasePath(dataDir);
    const store = await openStore(dataDir);
    test.after(() => store.close());
    const look = async () => {
      await store.file.look();
      return store.file.fault();
    };
    assert.equal(await look(), null);
    renameSync(path, `${path}.away`);
    assert.match((await look()) ?? '', /was removed/);
    copyFileSync(`${path}.away`, path);
    assert.match((await look()) ?? '', /was replaced/);
    renameSync(`${path}.away`, path);
    assert.equal(await look(), null, 'it is back');
    const bytes = readFileSync(path);
    writeFileSync(path, 'some text that is longer than a header');
    assert.match((await look()) ?? '', /was overwritten/);
    writeFileSync(path, '');
    assert.match((await look()) ?? '', /was emptied/);
    writeFileSync(path, bytes);
    assert.equal(await look(), null);
  });

  it('has every table that this version knows', async (test) => {
    const store = await openStore(temporaryFolder(test));
    test.after(() => store.close());
    const { rows } = await sql<{ name: string }>`select name from sqlite_master where type = 'table'`.execute(
      store.db,
    );
    const own = rows.map(({ name }) => name).filter((name) => !/^(sqlite|kysely)_/.test(name));
    assert.deepEqual([...own].sort(), [...tableNames].sort());
  });
});

describe('a migration', () => {
  it('is preceded by a copy that can be put back, readable by its owner only', async (test) => {
    const dataDir = temporaryFolder(test);
    const old = await openStore(dataDir);
    await old.db.insertInto('settings').values({ name: 'kept', value: 'yes' }).execute();
    await old.close();
    assert.equal(existsSync(join(dataDir, 'backups')), false, 'a new database needs no copy');
    const drop = later('9001-drop', 'drop table settings');
    await (await openStore(dataDir, { migrations: drop, now: () => Date.UTC(2026, 10, 21) })).close();
    const folder = join(dataDir, 'backups');
    const copies = readdirSync(folder);
    assert.deepEqual(copies, [
      `before-2026-11-21T00-00-00-000Z-${Object.keys(migrations).at(-1)}-9001-drop.db`,
    ]);
    const copy = join(folder, copies[0] ?? '');
    assert.deepEqual([mode(folder), mode(copy)], [0o700, 0o600]);

    const restored = temporaryFolder(test);
    copyFileSync(copy, databasePath(restored));
    const store = await openStore(restored);
    test.after(() => store.close());
    assert.deepEqual(
      (await store.db.selectFrom('settings').selectAll().execute()).map(({ value }) => value),
      ['yes'],
    );
  });

  it('that fails leaves the old schema and all data', async (test) => {
    const dataDir = temporaryFolder(test);
    const old = await openStore(dataDir);
    await old.db.insertInto('settings').values({ name: 'kept', value: 'yes' }).execute();
    await old.close();
    const failing = later('9001-half', 'create table half (id)', 'drop table settings', 'this is no SQL');
    await assert.rejects(openStore(dataDir, { migrations: failing }), (error: unknown) => {
      assert.ok(error instanceof GatewayError);
      assert.match(error.message, /9001-half failed.*Nothing was changed/);
      return true;
    });
    const store = await openStore(dataDir);
    test.after(() => store.close());
    assert.equal((await store.db.selectFrom('settings').selectAll().execute()).length, 1);
    const half = await sql`select 1 from sqlite_master where name = 'half'`.execute(store.db);
    assert.deepEqual(half.rows, []);
  });

  it('of a newer version makes an older one refuse, and change nothing', async (test) => {
    const dataDir = temporaryFolder(test);
    const newer = later('9001-newer', 'create table novelty (id)');
    await (await openStore(dataDir, { migrations: newer })).close();
    const before = readFileSync(databasePath(dataDir));
    await assert.rejects(openStore(dataDir), (error: unknown) => {
      assert.ok(error instanceof GatewayError);
      assert.match(error.message, /written by a newer Modelgate.*9001-newer.*update Modelgate/);
      return true;
    });
    assert.deepEqual(readFileSync(databasePath(dataDir)), before);
  });

  it('keeps the five latest copies', async (test) => {
    const dataDir = temporaryFolder(test);
    let all = migrations;
    for (let number = 1; number <= 8; number += 1) {
      const now = () => Date.UTC(2026, 0, number);
      await (await openStore(dataDir, { migrations: all, now })).close();
      all = { ...all, [`900${number + 1}-more`]: { async up() {} } };
    }
    const days = readdirSync(join(dataDir, 'backups')).map((name) => name.slice(15, 17));
    assert.deepEqual(days.sort(), ['04', '05', '06', '07', '08']);
  });
});
