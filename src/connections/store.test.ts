import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import { temporaryFolder } from '../../test/support/machine/folder.ts';
import { databasePath, openStore } from '../store/database.ts';
import { connectionStore, type NewConnection } from './store.ts';

const key = randomBytes(32);
const secret = 'upstream-secret-0123456789';
const openai: NewConnection = {
  provider: 'openai',
  name: 'work',
  baseUrl: null,
  apiKey: secret,
  defaultModel: null,
};
const passed = { valid: true, error: null, statusCode: 200, latencyMs: 5 };

/** Connections are listed by their time, so each gets a millisecond of its own. */
async function opened(test: TestContext) {
  const dataDir = temporaryFolder(test);
  const store = await openStore(dataDir);
  test.after(() => store.close());
  let time = 1_000;
  const now = () => {
    time += 1;
    return time;
  };
  return { dataDir, store, now, connections: connectionStore(store, key, now) };
}

describe('connections', () => {
  it('store their credential encrypted and return it only on request', async (test) => {
    const { connections, dataDir, store } = await opened(test);
    const record = await connections.add(openai);
    assert.deepEqual(
      [record.name, record.provider, record.authType, record.status, record.active],
      ['work', 'openai', 'api-key', 'untested', true],
    );
    assert.equal('credential' in record, false);
    assert.equal(
      JSON.stringify([record, await connections.list(), await connections.find('work')]).includes(secret),
      false,
    );
    assert.equal((await connections.findOpen('work'))?.credential, secret);
    assert.equal((await connections.findOpen(record.id))?.credential, secret);
    await store.db.insertInto('settings').values({ name: 'a', value: 'b' }).execute();
    for (const file of [databasePath(dataDir), `${databasePath(dataDir)}-wal`])
      assert.equal(readFileSync(file).includes(secret), false, file);
  });

  it('that the key cannot decrypt need re-entry, and the others still work', async (test) => {
    const { connections, now, store } = await opened(test);
    await connections.add(openai);
    await connections.add({ ...openai, name: 'local', provider: 'ollama', apiKey: null });
    const other = connectionStore(store, randomBytes(32), now);
    const fresh = await other.add({ ...openai, name: 'new' });
    const states = (await other.list()).map(({ name, status }) => [name, status]);
    assert.deepEqual(states, [
      ['work', 'needs-re-entry'],
      ['local', 'untested'],
      ['new', 'untested'],
    ]);
    const lost = (await other.listOpen())[0];
    assert.equal(lost?.credential, null);
    assert.match(lost?.lastError ?? '', /enter it again/);
    assert.equal((await other.findOpen(fresh.id))?.credential, secret);
    // Entering it again cures it; the earlier key was not needed for that.
    await other.update(lost?.id ?? '', { apiKey: 'entered again' });
    const cured = await other.findOpen('work');
    assert.deepEqual(
      [cured?.status, cured?.credential, cured?.lastError],
      ['untested', 'entered again', null],
    );
  });

  it('cannot decrypt each other’s credential', async (test) => {
    const { connections, store } = await opened(test);
    const one = await connections.add(openai);
    const other = await connections.add({ ...openai, name: 'other', apiKey: 'something else' });
    const { credential } = await store.db
      .selectFrom('connections')
      .select('credential')
      .where('id', '=', one.id)
      .executeTakeFirstOrThrow();
    await store.db.updateTable('connections').set({ credential }).where('id', '=', other.id).execute();
    assert.deepEqual(
      (await connections.list()).map(({ status }) => status),
      ['untested', 'needs-re-entry'],
    );
  });

  it('whose stored credential was damaged need re-entry', async (test) => {
    const { connections, store } = await opened(test);
    await connections.add(openai);
    for (const credential of ['', 'v1.', 'nonsense', null]) {
      await store.db.updateTable('connections').set({ credential }).execute();
      assert.equal((await connections.find('work'))?.status, 'needs-re-entry', String(credential));
    }
  });

  it('have unique names that can be part of a model id', async (test) => {
    const { connections, store } = await opened(test);
    const record = await connections.add(openai);
    await assert.rejects(connections.add(openai), { code: 'invalid_request', param: 'name' });
    for (const name of ['', 'a/b', ' ', 'a b', '-a', 'x'.repeat(65), 'demo'])
      await assert.rejects(
        connections.add({ ...openai, name }),
        { code: 'invalid_request', param: 'name' },
        name,
      );
    await connections.add({ ...openai, name: 'other' });
    await assert.rejects(connections.update(record.id, { name: 'other' }), /exists already/);
    await connections.update(record.id, { name: 'work' });
    const both = ['twice', 'twice'].map((name) => connectionStore(store, key).add({ ...openai, name }));
    const outcomes = (await Promise.allSettled(both)).map((outcome) =>
      outcome.status === 'fulfilled' ? 'added' : outcome.reason.code,
    );
    assert.deepEqual(outcomes.sort(), ['added', 'invalid_request'], 'also when both ask at once');
  });

  it('keep the outcome of a test until the credential or the address changes', async (test) => {
    const { connections } = await opened(test);
    const { id } = await connections.add(openai);
    await connections.saveTest(id, { ...passed, models: ['m-1', 'm-2'] });
    await connections.saveTest(id, { ...passed, valid: false, error: 'refused', models: null });
    const failed = await connections.find(id);
    assert.deepEqual(
      [failed?.status, failed?.lastError, failed?.models],
      ['failed', 'refused', ['m-1', 'm-2']],
    );
    await connections.update(id, { active: false, priority: 5 });
    const idle = await connections.find(id);
    assert.deepEqual([idle?.status, idle?.active, idle?.priority], ['failed', false, 5]);
    await connections.update(id, { baseUrl: 'http://127.0.0.1:1' });
    const moved = await connections.find(id);
    assert.deepEqual(
      [moved?.status, moved?.lastError, moved?.baseUrl],
      ['untested', null, 'http://127.0.0.1:1'],
    );
  });

  it('are removed by id', async (test) => {
    const { connections } = await opened(test);
    const { id } = await connections.add(openai);
    assert.deepEqual([await connections.remove(id), await connections.remove(id)], [true, false]);
    assert.deepEqual(await connections.list(), []);
  });
});
