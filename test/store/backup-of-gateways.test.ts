import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createSandbox, type Sandbox } from '../cli/run.ts';
import { hasPostgres } from '../support/brokers/postgres.ts';
import { type RunningGateway, startGateway, waitFor } from '../support/gateway/gateway.ts';
import { postgresServer } from '../support/store/engines.ts';

const SECRET = 'kJ8vQ2mX5nR7tY1wE4zA6bC9dF3gH0jL';
const NEXT_SECRET = 'mT4xV9bN2cQ7wS5yH8jK1pL3zR6dF0gA';
const demo = { model: 'demo/echo', messages: [{ role: 'user', content: 'hi' }] };

describe('backups, restores and changes of the key with DATABASE_URL', { skip: !hasPostgres }, () => {
  const postgres = postgresServer();
  let gateway: RunningGateway;
  let sandbox: Sandbox;
  let database: string;
  let file: string;
  const envOf = (url: string, secret = SECRET) => ({ DATABASE_URL: url, STORAGE_ENCRYPTION_KEY: secret });
  before(async () => {
    database = await postgres.database();
    sandbox = await createSandbox();
    gateway = await startGateway({ env: envOf(database) });
  });
  after(() => sandbox.close());

  it('a running gateway makes and checks one over its API', async () => {
    assert.equal((await gateway.ask('/v1/chat/completions', demo)).status, 200);
    await waitFor('its row', async () => (await gateway.entries()).length > 0);
    const made = await gateway.manage('POST', '/api/backups', {});
    const [{ id } = { id: '' }] = (made.json() as { results: { id: string }[] }).results;
    await waitFor('the end of its task', async () =>
      (await gateway.manage('GET', '/api/tasks?expand=resources')).text.includes(`The backup ${id} is made`),
    );
    const checked = await gateway.manage('POST', `/api/backups/${id}`, { action: 'verify' });
    assert.match(checked.text, /is whole/);
    file = join(gateway.dataDir, 'backups', id);
  });

  it('a gateway that stops ends the one that it makes', async (test) => {
    const stopping = await startGateway({ env: envOf(database), keyName: 'stopping' });
    test.after(() => stopping.kill());
    const lock = await postgres.lock(database, 'saved_views');
    test.after(lock.release);
    const made = await stopping.manage('POST', '/api/backups', {});
    assert.ok(made.status < 300, made.text);
    await lock.awaited();
    assert.equal((await stopping.stopServing()).code, 0);
    assert.deepEqual(readdirSync(join(stopping.dataDir, 'backups')), []);
    const [task] = await postgres.run(
      database,
      `select state, message from tasks where name = 'backup' order by created_at desc limit 1`,
    );
    assert.deepEqual(task, { state: 'Finished', message: 'The gateway stops, so the backup was not made' });
  });

  it('a command makes one beside it, and leaves nothing when it is interrupted', async () => {
    const env = envOf(database);
    const child = sandbox.spawn(['backup'], { env });
    let said = '';
    let interrupted = false;
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (interrupted || !said.includes('Copying the database')) return;
      interrupted = true;
      child.kill('SIGINT');
    });
    const [code] = (await once(child, 'close')) as [number | null];
    assert.deepEqual([code, /Interrupted/.test(said)], [1, true], said);
    assert.deepEqual(readdirSync(join(sandbox.dataDir, 'backups')), []);
    const output = join(sandbox.dataDir, 'mine.tar.gz');
    const made = await sandbox.run(['backup', '--output', output, '--json'], { env });
    assert.equal(made.code, 0, made.stderr);
    assert.deepEqual([made.json()['file'], made.json()['key_source']], [output, 'environment']);
  });

  it('a restore and a change of the key are refused while it runs', async () => {
    const restored = await sandbox.run(['restore', file, '--yes'], { env: envOf(database) });
    assert.equal(restored.code, 2);
    assert.match(restored.stderr, /Gateways run on the database/);
    const env = { ...envOf(database, NEXT_SECRET), STORAGE_ENCRYPTION_KEY_OLD: SECRET };
    const rotated = await sandbox.run(['storage', 'rotate-key'], { env });
    assert.equal(rotated.code, 2);
    assert.match(rotated.stderr, /Gateways run on the database/);
  });

  it('a restore fills an empty database, and a gateway goes on with it', async (test) => {
    await gateway.stopServing();
    const refused = await sandbox.run(['restore', file, '--yes'], { env: envOf(database) });
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /is not empty: its table \w+ has rows\. Nothing was changed/);
    const place = await postgres.database();
    const restored = await sandbox.run(['restore', file, '--yes', '--json'], { env: envOf(place) });
    assert.equal(restored.code, 0, restored.stderr);
    assert.deepEqual([restored.json()['restored'], restored.json()['key_matches']], [true, true]);
    assert.match(String(restored.json()['to']), /^127\.0\.0\.1:\d+\/test_/);
    const next = await startGateway({ env: envOf(place), keyName: 'another' });
    test.after(() => next.stop());
    const headers = { authorization: `Bearer ${gateway.key}` };
    assert.equal((await next.ask('/v1/chat/completions', demo, headers)).status, 200, 'the key of then');
    await waitFor('its row, after those of then', async () => (await next.entries()).length > 1);
  });

  it('a change of the key keeps gateways with the old one from starting', async () => {
    const env = { ...envOf(database, NEXT_SECRET), STORAGE_ENCRYPTION_KEY_OLD: SECRET };
    const rotated = await sandbox.run(['storage', 'rotate-key', '--json'], { env });
    assert.equal(rotated.code, 0, rotated.stderr);
    assert.deepEqual([rotated.json()['rotated'], rotated.json()['key_source']], [true, 'environment']);
    await assert.rejects(gateway.restart(), /is not the key that the database is encrypted with/);
    const serving = await sandbox.serve({ env: envOf(database, NEXT_SECRET) });
    assert.equal((await serving.stop()).code, 0);
    assert.deepEqual(
      await postgres.run(database, 'select * from nodes'),
      [],
      'nobody is left in the list of gateways',
    );
  });
});
