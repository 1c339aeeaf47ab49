import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, it } from 'node:test';
import { type RunningGateway, startGateway } from '../../support/gateway/gateway.ts';

let gateway: RunningGateway;

before(async () => {
  gateway = await startGateway();
});
after(() => gateway.stop());

/** The headers of a request to the management API by the owner of the machine. */
function asOwner(): Record<string, string> {
  const { key } = JSON.parse(readFileSync(join(gateway.dataDir, 'run.json'), 'utf8')) as { key: string };
  return { host: `127.0.0.1:${gateway.port}`, 'x-auth-token': key };
}

it('answers models and probes while another process has locked the database, and loses nothing', async () => {
  const other = new DatabaseSync(join(gateway.dataDir, 'modelgate.db'));
  other.exec('begin exclusive');
  const answered: string[] = [];
  try {
    const changes = ['one', 'two', 'three'].map(async (name) => {
      const headers = { ...asOwner(), 'content-type': 'application/json' };
      const body = JSON.stringify({ name });
      const reply = await gateway.send({ method: 'POST', path: '/api/keys', headers, body });
      answered.push(name);
      return reply;
    });
    const command = gateway.cli('keys', 'add', 'by-command');
    const ids: (string | undefined)[] = [];
    // As many as it takes until a change that waits would have been noticed by all.
    for (let turn = 0; turn < 25; turn += 1) {
      assert.equal((await gateway.send({ method: 'GET', path: '/healthz' })).status, 200);
      assert.equal((await gateway.send({ method: 'GET', path: '/readyz' })).status, 200);
      const stream = turn % 2 === 0;
      const messages = [{ role: 'user', content: 'hello' }];
      const reply = await gateway.ask('/v1/chat/completions', { model: 'demo/echo', messages, stream });
      assert.equal(reply.status, 200, reply.text);
      ids.push(reply.header('x-request-id'));
    }
    const read = { method: 'GET', path: '/api/keys', headers: asOwner() };
    assert.equal((await gateway.send(read)).status, 200, 'what only reads does not wait');
    assert.deepEqual(answered, [], 'a change waits for the lock');
    other.exec('rollback');
    for (const reply of await Promise.all(changes)) assert.equal(reply.status, 200, reply.text);
    assert.equal((await command).code, 0, (await command).stderr);
    for (const id of [ids[0], ids.at(-1)]) await gateway.entry(id);
    assert.equal((await gateway.entries()).length, ids.length);
  } finally {
    other.close();
  }
});
