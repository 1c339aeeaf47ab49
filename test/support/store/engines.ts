import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext } from 'node:test';
import postgres from 'postgres';
import { openStore, type Store } from '../../../src/store/database.ts';
import { openPostgresStore } from '../../../src/store/postgres/store.ts';
import { startPostgres } from '../brokers/postgres.ts';
import type { PrivateBroker } from '../brokers/server-process.ts';
import { waitFor } from '../gateway/gateway.ts';
import { temporaryFolder } from '../machine/folder.ts';

/** One PostgreSQL server for a file of tests, with a database for each test. */
export interface PostgresServer {
  /** The address of a new database, with the tables of a store and nothing in them. */
  database(): Promise<string>;
  /** The server itself, to be stopped and started. */
  server(): PrivateBroker;
  /** Runs statements as the server's owner. */
  run(url: string, text: string): Promise<readonly Record<string, unknown>[]>;
  /** Keeps others from reading a table until it is released, or the server ends. */
  lock(url: string, table: string): Promise<TableLock>;
}

export interface TableLock {
  /** Resolves when somebody waits for the table. */
  awaited(): Promise<void>;
  release(): Promise<void>;
}

/** To be called in a `describe`: starts the server before its tests, and ends it after them. */
export function postgresServer(): PostgresServer {
  let folder = '';
  let started: PrivateBroker | null = null;
  let made = 0;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'modelgate-postgres-'));
    // The server runs as another user.
    chmodSync(folder, 0o755);
    started = await startPostgres(join(folder, 'server'));
  });
  after(async () => {
    await started?.kill();
    rmSync(folder, { recursive: true, force: true });
  });
  const server = () => {
    if (started === null) throw new Error('the server starts before the tests');
    return started;
  };
  const run = async (url: string, text: string) => {
    const sql = postgres(url, { max: 1, onnotice: () => {} });
    try {
      return [...(await sql.unsafe(text))];
    } finally {
      await sql.end({ timeout: 1 });
    }
  };
  const lock = async (url: string, table: string): Promise<TableLock> => {
    const sql = postgres(url, { max: 1, onnotice: () => {} });
    const [locked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const holding = sql.begin(async (transaction) => {
      await transaction.unsafe(`lock table ${table} in access exclusive mode`);
      locked.resolve();
      await held.promise;
    });
    // Its server may end before it does.
    const ended = holding.catch(locked.reject);
    await locked.promise;
    const waits = `select 1 from pg_locks where relation = '${table}'::regclass and not granted`;
    return {
      awaited: () => waitFor(`who waits for ${table}`, async () => (await run(url, waits)).length > 0),
      async release() {
        held.resolve();
        await ended;
        await sql.end({ timeout: 1 });
      },
    };
  };
  return {
    server,
    run,
    lock,
    async database() {
      made += 1;
      const { url } = server();
      const named = (name: string) => url.replace(/[^/]+$/, name);
      if (made === 1) {
        // Made once, and copied.
        await run(url, 'create database template_store');
        await (await openPostgresStore(named('template_store'), { follow: false })).close();
      }
      await run(url, `create database test_${made} template template_store`);
      return named(`test_${made}`);
    },
  };
}

/** What a contract of the store runs on. */
export interface Engine {
  name: Store['kind'];
  /** A store of its own, closed after the test. */
  open(test: TestContext): Promise<Store>;
}

export const sqliteEngine: Engine = {
  name: 'sqlite',
  async open(test) {
    const store = await openStore(temporaryFolder(test));
    test.after(() => store.close());
    return store;
  },
};

export function postgresEngine({ database }: PostgresServer): Engine {
  return {
    name: 'postgres',
    async open(test) {
      const store = await openPostgresStore(await database(), {});
      test.after(() => store.close());
      return store;
    },
  };
}
