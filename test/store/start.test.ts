import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { ledgerColumns, ledgerRow } from '../../src/ledger/record.ts';
import { createLog } from '../../src/lib/log.ts';
import { createSchedule } from '../../src/lib/time/schedule.ts';
import { openLedger } from '../../src/records.ts';
import { openStore } from '../../src/store/database.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { hasPostgres } from '../support/brokers/postgres.ts';
import { freePort } from '../support/brokers/server-process.ts';
import { waitFor } from '../support/gateway/gateway.ts';
import { gatewayNode } from '../support/gateway/gateway-node.ts';
import { temporaryFolder } from '../support/machine/folder.ts';
import { postgresServer } from '../support/store/engines.ts';
import { madeEntry } from '../support/store/ledger.ts';

/** A port of the test's own. @returns the address with that port in it */
async function portFor(test: TestContext, url: string, serve: (client: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    sockets.add(client);
    client.on('error', () => {});
    serve(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  test.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  return url.replace(/:\d+\//, `:${address.port}/`);
}

const SECRET = 'kJ8vQ2mX5nR7tY1wE4zA6bC9dF3gH0jL';

/** A journal with one row, as a gateway leaves it that was killed. @returns its file */
function writeJournal(dataDir: string): string {
  const folder = join(dataDir, 'journal');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'earlier-1.0');
  writeFileSync(
    file,
    `${JSON.stringify(ledgerColumns)}\n${JSON.stringify(ledgerRow(madeEntry({ id: 'req_1' })))}\n`,
  );
  return file;
}

const unreachable = (error: Error & { code?: string }): true => {
  assert.equal(error.code, 'database_unreachable', String(error));
  return true;
};

describe('a start while the PostgreSQL server is not there', { skip: !hasPostgres }, () => {
  const postgres = postgresServer();

  it('ends with an error when a balancer accepts and closes', async (test) => {
    // It reads what it is sent, so that the end is an orderly one.
    const url = await portFor(test, await postgres.database(), (client) => client.resume().end());
    await assert.rejects(openPostgresStore(url, {}), unreachable);
  });

  it('ends with an error when the server is silent after the login', async (test) => {
    const target = await postgres.database();
    const url = await portFor(test, target, (client) => {
      const upstream = connect(postgres.server().port, '127.0.0.1');
      upstream.on('error', () => {});
      client.on('close', () => upstream.destroy());
      // The login is one message.
      client.once('data', (login) => upstream.write(login));
      upstream.on('data', (piece) => client.write(piece));
    });
    await assert.rejects(openPostgresStore(url, {}), unreachable);
  });

  it('waits for it as long as configured, and reports that once', async (test) => {
    const url = await postgres.database();
    await postgres.server().kill();
    const waits: string[] = [];
    const told = Promise.withResolvers<void>();
    const onWait = (reason: string) => {
      waits.push(reason);
      told.resolve();
    };
    const opening = openPostgresStore(url, { patience: { forMs: 300_000, onWait } });
    await told.promise;
    await postgres.server().start();
    const store = await opening;
    test.after(() => store.close());
    assert.deepEqual(waits.length, 1);
    assert.match(waits[0] ?? '', /CONN|starting up|shutting down|recovery/);
  });

  it('stops waiting when it is stopped', async () => {
    const url = (await postgres.database()).replace(/:\d+\//, `:${await freePort()}/`);
    const stop = new AbortController();
    const patience = { forMs: 300_000, onWait: () => stop.abort(), signal: stop.signal };
    await assert.rejects(openPostgresStore(url, { patience }), unreachable);
  });
});

describe('gateway serve while the PostgreSQL server is away', { skip: !hasPostgres }, () => {
  const postgres = postgresServer();

  it('starts its workers when the server is back, and writes the rows of journals once', async (test) => {
    const dataDir = join(temporaryFolder(test), 'data');
    const url = await postgres.database();
    const env = { DATABASE_URL: url, STORAGE_ENCRYPTION_KEY: SECRET, GATEWAY_WORKERS: '2' };
    const node = await gatewayNode({ dataDir, env });
    test.after(() => node.kill());
    writeJournal(dataDir);
    await postgres.server().kill();
    const isUp = node.start().then(
      () => true,
      () => false,
    );
    await waitFor('the waiting', () => node.log().includes('the start waits for it'));
    await postgres.server().start();
    // As a supervisor does, where that took longer than a start waits.
    if (!(await isUp)) await node.start();
    assert.equal(node.pids().length, 3);
    await waitFor('the row', async () => {
      const rows = await postgres.run(url, 'select id from requests');
      return rows.length === 1 && rows[0]?.['id'] === 'req_1';
    });
  });

  it('ends when it is stopped while it waits', async (test) => {
    const dataDir = join(temporaryFolder(test), 'data');
    const away = (await postgres.database()).replace(/:\d+\//, `:${await freePort()}/`);
    const node = await gatewayNode({ dataDir, env: { DATABASE_URL: away, STORAGE_ENCRYPTION_KEY: SECRET } });
    test.after(() => node.kill());
    const refused = assert.rejects(node.start(), /did not start.*does not answer/s);
    await waitFor('the waiting', () => node.log().includes('the start waits for it'));
    await node.stop();
    await refused;
  });
});

it('a start does not wait until the database has the rows of journals', async (test) => {
  const dataDir = temporaryFolder(test);
  const file = writeJournal(dataDir);
  const opened = await openStore(dataDir);
  test.after(() => opened.close());
  const inserted = Promise.withResolvers<boolean>();
  const ids: unknown[] = [];
  const store = {
    db: opened.db,
    insertMany: (_table: string, _columns: readonly string[], rows: readonly (readonly unknown[])[]) => {
      ids.push(...rows.map(([id]) => id));
      return inserted.promise;
    },
  };
  const schedule = createSchedule();
  const log = createLog({ level: 'silent', write: () => {}, pretty: false });
  const ledger = await openLedger({ store, dataDir, schedule, log, beforeBatch() {} });
  assert.deepEqual([ledger.pending(), existsSync(file)], [1, true]);
  inserted.resolve(true);
  await waitFor('the removal of the journal', () => !existsSync(file));
  await ledger.close();
  assert.deepEqual(ids, ['req_1'], 'once');
});
