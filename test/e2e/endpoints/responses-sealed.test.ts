import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { bearer, waitFor } from '../../support/gateway/gateway.ts';
import { setting } from '../../support/gateway/setting.ts';
import { chatAnswer } from '../../support/upstream/answers.ts';
import { json } from '../../support/upstream/steps.ts';

describe('kept responses', () => {
  const at = setting();
  const ask = (body: object) => at.gateway.ask('/v1/responses', { model: 'up/m-1', ...body });
  const stored = (id: string, method = 'GET') =>
    at.gateway.send({ method, path: `/v1/responses/${id}`, headers: bearer(at.gateway.key) });
  /** All bytes of the database. */
  const database = async () => {
    const files = ['modelgate.db', 'modelgate.db-wal'].map((name) =>
      readFile(join(at.gateway.dataDir, name)),
    );
    return Buffer.concat(await Promise.all(files));
  };
  const counted = async () => {
    const { responses } = await at.gateway.cliJson('reset-encrypted-columns');
    return responses;
  };

  it('are encrypted on the disk, and readable again after a restart', async () => {
    at.upstream.always(json(200, chatAnswer({ text: ['Zaubernuss blooms.'] })));
    const { id } = (await ask({ input: 'Is it Hamamelis?', instructions: 'Botanik!' })).json();
    await waitFor('the response on the disk', async () => (await database()).includes(String(id)));
    const bytes = await database();
    for (const word of ['Zaubernuss', 'Hamamelis', 'Botanik'])
      assert.equal(bytes.includes(word), false, word);
    await at.gateway.kill();
    await at.gateway.restart();
    assert.match((await stored(String(id))).text, /Zaubernuss/);
    const next = await ask({ input: 'And now?', previous_response_id: id });
    assert.equal(next.status, 200, next.text);
    assert.match((await (await at.upstream.request(1)).whole).toString(), /Hamamelis.*Zaubernuss.*And now/);
  });

  it('of another storage key are distinguished from unknown ones, and the commands count them', async () => {
    at.upstream.always(json(200, chatAnswer()));
    const { id } = (await ask({ input: 'hi' })).json();
    await waitFor('all responses on the disk', async () => (await counted()) === 3);
    await at.gateway.kill();
    const path = join(at.gateway.dataDir, 'storage.key');
    const key = await readFile(path);
    await writeFile(path, 'another key than that of before\n');
    await at.gateway.restart();
    const gone = await stored(String(id));
    assert.equal(gone.status, 404);
    assert.match(gone.text, /sealed with another STORAGE_ENCRYPTION_KEY/);
    const continued = await ask({ model: 'demo/echo', input: 'x', previous_response_id: id });
    assert.equal(continued.status, 400);
    const error = continued.json()['error'] as Record<string, unknown>;
    assert.deepEqual(
      [error['code'], error['param']],
      ['previous_response_not_found', 'previous_response_id'],
    );
    assert.match(String(error['message']), /sealed with another STORAGE_ENCRYPTION_KEY/);
    assert.equal((await stored(String(id), 'DELETE')).status, 200);
    assert.equal(await counted(), 2);
    await ask({ model: 'demo/echo', input: 'with the new key' });
    await waitFor('the new response', async () => (await counted()) === 3);
    await at.gateway.cliJson('reset-encrypted-columns', '--force');
    assert.equal(await counted(), 0);
    await writeFile(path, key);
  });
});

describe('responses.retention_days: 0', () => {
  const at = setting({ config: { responses: { retention_days: 0 } } });

  it('keeps them in memory alone', async () => {
    at.upstream.always(json(200, chatAnswer()));
    const asked = await at.gateway.ask('/v1/responses', { model: 'up/m-1', input: 'One?' });
    const { id } = asked.json();
    const path = `/v1/responses/${id}`;
    const read = () => at.gateway.send({ method: 'GET', path, headers: bearer(at.gateway.key) });
    assert.equal((await read()).status, 200);
    // The ledger is written later than responses are.
    await at.gateway.entry(asked.header('x-request-id'));
    await at.gateway.kill();
    await at.gateway.restart();
    assert.equal((await read()).status, 404);
  });
});
