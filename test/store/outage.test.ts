import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createLedger } from '../../src/ledger/record.ts';
import { recentRequests } from '../../src/ledger/report.ts';
import { inspectPostgres } from '../../src/store/postgres/inspect.ts';
import { openOutbox } from '../../src/store/postgres/outbox.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { createWriter } from '../../src/store/writer.ts';
import { hasPostgres } from '../support/brokers/postgres.ts';
import { waitFor } from '../support/gateway/gateway.ts';
import { temporaryFolder } from '../support/machine/folder.ts';
import { postgresServer } from '../support/store/engines.ts';
import { madeEntry } from '../support/store/ledger.ts';

describe('an outage of the PostgreSQL server', { skip: !hasPostgres }, () => {
  const postgres = postgresServer();

  it('keeps rows on the disk meanwhile, and writes each of them once', async (test) => {
    const [url, dataDir] = [await postgres.database(), temporaryFolder(test)];
    const told: boolean[] = [];
    const open = () =>
      openPostgresStore(url, { dataDir, onOutage: (outage) => void told.push(outage !== null) });
    const store = await open();
    const writer = createWriter(store, { flushMs: 1 });
    const ledger = createLedger(writer);
    const revision = store.revision();
    ledger.record(madeEntry({ id: 'req_0' }));
    await writer.flush();
    await postgres.server().kill();
    for (const id of ['req_1', 'req_2', 'req_3']) {
      ledger.record(madeEntry({ id }));
      await waitFor('the row on the disk', async () => writer.pending() === 0);
    }
    assert.equal(store.kind, 'postgres');
    assert.deepEqual([store.server.waiting(), told], [3, [true]]);
    assert.equal(statSync(join(dataDir, 'outbox.db')).mode & 0o777, 0o600);
    assert.equal(store.revision(), revision, 'what was known stays');
    await assert.rejects(store.db.selectFrom('keys').selectAll().execute(), (error: Error) => {
      assert.match(error.message, /does not answer \(E?CONN/);
      assert.equal((error as Error & { code?: string }).code, 'database_unreachable');
      return true;
    });
    await writer.stop();
    await store.close();

    // As after a crash between writing a batch and forgetting it.
    const outbox = openOutbox(dataDir);
    const batch = { table: 'traces', columns: ['id', 'trace'], rows: [['req_0', '{}']] } as const;
    assert.deepEqual([outbox.put(batch), outbox.put(batch), outbox.waiting()], [true, true, 5]);
    outbox.close();
    await postgres.server().start();
    const again = await open();
    test.after(() => again.close());
    await waitFor('the rows', async () => again.server.waiting() === 0);
    assert.deepEqual(await again.db.selectFrom('traces').select('id').execute(), [{ id: 'req_0' }]);
    const ids = (await recentRequests(again, { limit: 9 })).map(({ id }) => id);
    assert.deepEqual(ids, ['req_0', 'req_1', 'req_2', 'req_3']);
  });

  it('is over when the server answers again, without a restart', async (test) => {
    const told: boolean[] = [];
    const dataDir = temporaryFolder(test);
    const address = await postgres.database();
    const store = await openPostgresStore(address, {
      dataDir,
      onOutage: (outage) => void told.push(outage !== null),
    });
    test.after(() => store.close());
    const transaction = () =>
      store.db.transaction().execute((trx) => trx.selectFrom('keys').selectAll().execute());
    await Promise.all(Array.from({ length: 12 }, transaction));
    const [open, stays] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const cut = store.db.transaction().execute(async (trx) => {
      await trx.insertInto('settings').values({ name: 'cut', value: 'off' }).execute();
      open.resolve();
      await stays.promise;
    });
    await open.promise;
    await postgres.server().kill();
    stays.resolve();
    // The server's children end a little later than the server, and may still take it.
    await cut.catch((error: Error) => assert.match(error.message, /does not answer/));
    // More than there are connections: none is lost by it.
    await Promise.allSettled(Array.from({ length: 12 }, transaction));
    const columns = ['id', 'trace'];
    assert.equal(await store.insertMany('traces', columns, [['req_1', '{}']]), true);
    await postgres.server().start();
    await waitFor(
      'the end of the outage',
      async () => store.server.outage() === null && store.server.waiting() === 0,
    );
    await store.insertMany('traces', columns, [['req_2', '{}']]);
    assert.equal((await store.db.selectFrom('traces').selectAll().execute()).length, 2);
    await Promise.all(Array.from({ length: 12 }, transaction));
    assert.deepEqual((await inspectPostgres(address)).pending, []);
    const other = await openPostgresStore(address, { follow: false });
    await other.db.insertInto('settings').values({ name: 'x', value: 'y' }).execute();
    const wanted = other.revision();
    await other.close();
    await waitFor('the change of another gateway', async () => store.revision() === wanted);
    assert.deepEqual(told.slice(0, 2), [true, false]);
  });

  it('has no more rows on the disk than there is room for', (test) => {
    const outbox = openOutbox(temporaryFolder(test), 40);
    const batch = {
      table: 'traces',
      columns: ['id', 'trace'],
      rows: [['req_1', new Uint8Array([1, 2])]],
    } as const;
    assert.equal(outbox.put(batch), true);
    assert.equal(outbox.put(batch), false);
    const first = outbox.first();
    assert.deepEqual(
      first?.batch.rows.map(([id, bytes]) => [id, Buffer.from(bytes as Uint8Array)]),
      [['req_1', Buffer.from([1, 2])]],
    );
    outbox.remove(first?.id ?? 0);
    assert.deepEqual([outbox.waiting(), outbox.first(), outbox.put(batch)], [0, null, true]);
    outbox.close();
  });
});
