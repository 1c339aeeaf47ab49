import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { limitedKeys } from '../../src/budgets/key-limits.ts';
import { connectionStore } from '../../src/connections/store.ts';
import { createLedger } from '../../src/ledger/record.ts';
import { openServiceRecords } from '../../src/services/store.ts';
import { openStore, type Store } from '../../src/store/database.ts';
import { moveStore, refuseUnfinishedMove } from '../../src/store/move/move.ts';
import { movedTables } from '../../src/store/move/tables.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { tableNames } from '../../src/store/tables.ts';
import { createWriter } from '../../src/store/writer.ts';
import { hasPostgres } from '../support/brokers/postgres.ts';
import { temporaryFolder } from '../support/machine/folder.ts';
import { postgresServer } from '../support/store/engines.ts';
import { madeEntry } from '../support/store/ledger.ts';

const REQUESTS = 1_201;

async function filled(test: TestContext, dataDir: string): Promise<Store> {
  const store = await openStore(dataDir);
  test.after(() => store.close());
  await limitedKeys(store, () => 1000).create({ name: 'ci', budget_usd: 0.1 });
  await connectionStore(store, Buffer.alloc(32, 7)).add({
    provider: 'openai',
    name: 'work',
    baseUrl: null,
    apiKey: 'sk-1',
    defaultModel: null,
  });
  await (await openServiceRecords(store, () => 1000)).update('data-plane', { desired: 'stopped' });
  const config = { text: 'x', created_at: 1, author: 'a', via: 'file' } as const;
  await store.db
    .insertInto('event_configs')
    .values({ number: 7, ...config })
    .execute();
  const writer = createWriter(store, { flushMs: 3_600_000 });
  const ledger = createLedger(writer);
  for (let index = 0; index < REQUESTS; index += 1)
    ledger.record(
      madeEntry({
        id: `req_${String(index).padStart(6, '0')}`,
        startedAt: Date.UTC(2026, index % 12, 15),
        costUsd: index / 3,
        errorMessage: index === 5 ? 'half \ud800 and \0' : null,
      }),
    );
  writer.push(
    'responses',
    ['id', 'key_id', 'created_at', 'connection_id', 'model', 'bytes', 'input', 'response', 'sealed'],
    ['r', 'k', 1, 'c', 'm', 3, '', '', new Uint8Array([0, 255, 7])],
  );
  await writer.stop();
  return store;
}

const quiet = () => {};

describe('moving a store', { skip: !hasPostgres }, () => {
  const postgres = postgresServer();

  it('knows every table', () => {
    const left = [
      'revision',
      'leases',
      'nodes',
      'job_runs',
      'key_changes',
      'usage_sums',
      'usage_spans',
      'packed_sums',
      'sum_rollups',
      'counted_values',
      'value_counts',
      'run_totals',
    ];
    const known = [...movedTables.map(({ name }) => name), ...left];
    assert.deepEqual(known.sort(), [...tableNames].sort());
  });

  it('moves everything to a server and back, and resumes where it was interrupted', async (test) => {
    const dataDir = temporaryFolder(test);
    const from = await filled(test, dataDir);
    const server = await openPostgresStore(await postgres.database(), { dataDir, follow: false });
    test.after(() => server.close());
    const cut = moveStore({
      from,
      to: server,
      source: 'here',
      progress(table) {
        if (table === 'connections') throw new Error('cut off');
      },
    });
    await assert.rejects(cut, /cut off/);
    await assert.rejects(refuseUnfinishedMove(server), /only a part of the state of here/);
    await assert.rejects(
      moveStore({ from, to: server, source: 'there', progress: quiet }),
      /part of the state of here/,
    );
    const moved = await moveStore({ from, to: server, source: 'here', progress: quiet });
    assert.deepEqual(
      [moved['requests'], moved['keys'], moved['budgets'], moved['responses'], moved['services']],
      [REQUESTS, 1, 1, 1, 1],
    );
    await refuseUnfinishedMove(server);
    await assert.rejects(moveStore({ from, to: server, source: 'here', progress: quiet }), /not empty/);
    const services = await openServiceRecords(server, () => 1);
    assert.equal(services.cached('data-plane')?.desired, 'stopped');
    const config = { text: 'y', created_at: 2, author: 'a', via: 'file' } as const;
    const { number } = await server.db
      .insertInto('event_configs')
      .values(config)
      .returning('number')
      .executeTakeFirstOrThrow();
    assert.equal(number, 8);

    const back = await openStore(temporaryFolder(test));
    test.after(() => back.close());
    const returned = await moveStore({ from: server, to: back, source: 'server', progress: quiet });
    assert.deepEqual(returned, { ...moved, event_configs: 2 });
    assert.equal((await openServiceRecords(back, () => 1)).cached('data-plane')?.desired, 'stopped');
    const [, opened] = [back.revision(), await connectionStore(back, Buffer.alloc(32, 7)).listSealed()];
    assert.equal(opened[0]?.decrypts, true);
  });

  it('reports a row that differs after the move', async (test) => {
    const from = await filled(test, temporaryFolder(test));
    const server = await openPostgresStore(await postgres.database(), { follow: false });
    test.after(() => server.close());
    const { insertMany } = server;
    const lossy: Store = {
      ...server,
      insertMany: (table, columns, rows, onRefused) =>
        insertMany(table, columns, table === 'requests' ? rows.slice(1) : rows, onRefused),
    };
    const moving = moveStore({ from, to: lossy, source: 'here', progress: quiet });
    await assert.rejects(moving, /The table requests differs at req_000000/);
  });
});
