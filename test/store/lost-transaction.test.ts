import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import postgres, { type Sql } from 'postgres';
import { resolveAddress } from '../../src/events/channels/broker/address.ts';
import { connectPostgres } from '../../src/events/channels/postgres/connect-postgres.ts';
import { prepareTables } from '../../src/events/channels/postgres/tables.ts';
import { createPostgresHandled } from '../../src/events/idempotence/postgres-handled.ts';
import { postgresObjects } from '../../src/events/spool/objects/postgres-objects.ts';
import { createLog } from '../../src/lib/log.ts';
import { migratePostgres } from '../../src/store/postgres/migrate.ts';
import { inTransaction, openTransaction } from '../../src/store/postgres/transaction.ts';
import { hasPostgres } from '../support/brokers/postgres.ts';
import { waitFor } from '../support/gateway/gateway.ts';
import { postgresServer } from '../support/store/engines.ts';

const log = createLog({ level: 'silent', write: () => {}, pretty: false });
const addressOf = (url: string) => resolveAddress(url, () => undefined);

/** Whoever makes tables takes a lock in its transaction. What `run` returns ends when the tables are there. */
const makers: readonly { what: string; lock: number; run(url: string): Promise<unknown> }[] = [
  {
    what: 'the tables of an event channel',
    lock: 7_348_910_225,
    run: async (url) => {
      const use = { prepare: prepareTables, onEvents: null };
      const { close } = await connectPostgres(addressOf(url), use, () => {});
      await close();
    },
  },
  {
    what: 'the table of handled events',
    lock: 7_348_910_226,
    async run(url) {
      const store = createPostgresHandled({ address: addressOf(url), instance: async () => 'one', log });
      await store.find({ trigger: 'a', source: 'b', id: 'c' }).finally(() => store.close());
    },
  },
  {
    what: 'the table of stored objects',
    lock: 7_348_910_227,
    async run(url) {
      const objects = postgresObjects({ address: addressOf(url), log });
      await objects.list('').finally(() => objects.close());
    },
  },
  {
    what: 'the tables of the store',
    lock: 7_348_910_229,
    async run(url) {
      const sql = postgres(url, { max: 1, onnotice: () => {} }) as Sql;
      const migrating = migratePostgres({ sql, place: 'here', now: 0, create: true });
      await migrating.finally(() => sql.end({ timeout: 0 }));
    },
  },
];

/** What nobody handles until the test ends; any of it ends a gateway. */
function unhandledErrors(t: TestContext): readonly unknown[] {
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  for (const event of ['unhandledRejection', 'uncaughtException'] as const) {
    process.on(event, note);
    t.after(() => process.off(event, note));
  }
  return unhandled;
}

/** Node.js tells of errors that nobody handles when the microtasks are done; postgres.js writes in an immediate. */
async function afterImmediates(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe('a connection to PostgreSQL that is lost inside a transaction', { skip: !hasPostgres }, () => {
  const server = postgresServer();

  it('fails the transaction between two statements, and leaves the other connections usable', async (t) => {
    const unhandled = unhandledErrors(t);
    const lost = Promise.withResolvers<void>();
    const { url } = server.server();
    const sql = postgres(url, { max: 1, onclose: () => lost.resolve() }) as Sql;
    t.after(() => sql.end({ timeout: 1 }));
    const work = inTransaction(
      () => openTransaction(sql, 'create table lost_work (id integer)'),
      async (transaction) => {
        const [row] = await transaction.unsafe('select pg_backend_pid() as pid');
        await server.run(url, `select pg_terminate_backend(${Number(row?.['pid'])})`);
        await lost.promise;
        await transaction.unsafe('insert into lost_work values (1)');
      },
    );
    await assert.rejects(work, { code: 'CONNECTION_CLOSED' });
    const [after] = await sql.unsafe("select to_regclass('lost_work') is null as gone");
    assert.equal(after?.['gone'], true);
    await afterImmediates();
    assert.deepEqual(unhandled, []);
  });

  for (const { lock, run, what } of makers)
    it(`fails the caller of ${what}, and nothing else`, async (t) => {
      const unhandled = unhandledErrors(t);
      const { url } = server.server();
      const name = `lost_${lock}`;
      await server.run(url, `create database ${name}`);
      const database = url.replace(/[^/]+$/, name);
      const holder = postgres(database, { max: 1 });
      t.after(() => holder.end({ timeout: 1 }));
      await holder`select pg_advisory_lock(${lock})`;
      const made = run(database).then(
        () => 'made',
        (error: unknown) => error,
      );
      const waiting = async () =>
        (await holder`select pid from pg_locks where locktype = 'advisory' and not granted`).length > 0;
      await waitFor('the transaction', waiting);
      await holder`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and not granted`;
      await holder`select pg_advisory_unlock(${lock})`;
      await made;
      await run(database);
      await afterImmediates();
      assert.deepEqual(unhandled, []);
    });
});
