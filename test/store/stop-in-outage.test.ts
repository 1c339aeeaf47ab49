import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { hasPostgres } from '../support/brokers/postgres.ts';
import { startGateway, waitFor } from '../support/gateway/gateway.ts';
import { postgresServer } from '../support/store/engines.ts';

const SECRET = 'kJ8vQ2mX5nR7tY1wE4zA6bC9dF3gH0jL';

describe('a gateway that ends while its PostgreSQL server is away', { skip: !hasPostgres }, () => {
  const postgres = postgresServer();

  it('keeps what it recorded on the disk, says how much, and has not failed', async (test) => {
    const env = { DATABASE_URL: await postgres.database(), STORAGE_ENCRYPTION_KEY: SECRET };
    const gateway = await startGateway({ env });
    test.after(() => gateway.stop());
    const body = { model: 'demo/echo', messages: [{ role: 'user', content: 'hi' }] };
    const before = await gateway.ask('/v1/chat/completions', body);
    await gateway.entry(before.header('x-request-id'));
    await postgres.server().kill();
    const during = await gateway.ask('/v1/chat/completions', body);
    assert.equal(during.status, 200, during.text);
    assert.deepEqual(await gateway.stopServing(), { code: 0, signal: null }, gateway.output().stderr);
    const kept = new DatabaseSync(join(gateway.dataDir, 'outbox.db'));
    const rows = Number(kept.prepare('select sum(count) as rows from batches').get()?.['rows']);
    const requests = kept.prepare("select rows from batches where name = 'requests'").all();
    kept.close();
    assert.ok(JSON.stringify(requests).includes(during.header('x-request-id') ?? '-'));
    const said = gateway
      .output()
      .stderr.split('\n')
      .filter((line) => line.includes('rows_waiting'));
    assert.deepEqual(said.length, 1, gateway.output().stderr);
    assert.match(said[0] ?? '', new RegExp(`"?rows_waiting"?[:=]${rows}\\b`));

    await postgres.server().start();
    await gateway.restart();
    await waitFor('the rows', async () => (await gateway.entries()).length === 2);
  });
});
