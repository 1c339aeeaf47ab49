import assert from 'node:assert/strict';
import { createSecretKey, randomBytes } from 'node:crypto';
import { describe, it, type TestContext } from 'node:test';
import { temporaryFolder } from '../../test/support/machine/folder.ts';
import { GatewayError } from '../lib/error.ts';
import { openStore } from '../store/database.ts';
import { createWriter } from '../store/writer.ts';
import { countEncrypted } from './encrypted-responses.ts';
import { createResponseEncryption } from './row.ts';
import { responseStore } from './store.ts';
import type { StoredResponse } from './stored.ts';

const expectedOf = (stored: StoredResponse) => ({
  ...stored,
  length: JSON.stringify(stored.input).length + JSON.stringify(stored.response).length,
});
const one: StoredResponse = {
  id: 'resp_1',
  createdAt: 1000,
  keyId: 'key_a',
  connectionId: 'con_1',
  model: 'up/m-1',
  previousId: null,
  input: [{ type: 'message', role: 'user', content: 'Grüße ☀', id: 'msg_1_i0' }],
  response: { id: 'resp_1', object: 'response', output: [] },
};

const RETENTION_MS = 30 * 24 * 60 * 60 * 1000;
const key = { key: createSecretKey(randomBytes(32)), name: 'this' };
const usual = { sealing: createResponseEncryption(key), retentionDays: 30, maxBytes: 1024 ** 3 };

async function opened(test: TestContext, options: Partial<typeof usual> = {}) {
  const store = await openStore(temporaryFolder(test));
  const writer = createWriter(store);
  test.after(async () => {
    await writer.stop();
    await store.close();
  });
  const clock = { now: 1000 };
  const fresh = () => responseStore(store, writer, { ...usual, now: () => clock.now, ...options });
  return { store, writer, clock, fresh, memory: fresh() };
}

describe('stored responses', () => {
  it('are found at once, and after the memory was cleared', async (test) => {
    const { fresh, memory, writer } = await opened(test);
    memory.put(one);
    assert.deepEqual(await memory.get('resp_1', 'key_a'), expectedOf(one));
    assert.equal(await fresh().get('resp_1', 'key_a'), null, 'not written yet');
    assert.equal(writer.flush(), true);
    assert.deepEqual(await fresh().get('resp_1', 'key_a'), expectedOf(one));
  });

  it('exist only for the key that created them', async (test) => {
    const { fresh, memory, writer } = await opened(test);
    memory.put(one);
    writer.flush();
    for (const each of [memory, fresh()]) {
      assert.equal(await each.get('resp_1', 'key_b'), null);
      assert.equal(await each.remove('resp_1', 'key_b'), false);
    }
    assert.deepEqual(await fresh().get('resp_1', 'key_a'), expectedOf(one));
  });

  it('are separate when two keys have the same id', async (test) => {
    const { fresh, memory, writer } = await opened(test);
    const other = { ...one, keyId: 'key_b', model: 'other' };
    memory.put(one);
    memory.put(other);
    writer.flush();
    for (const each of [memory, fresh()]) {
      assert.deepEqual(await each.get('resp_1', 'key_a'), expectedOf(one));
      assert.deepEqual(await each.get('resp_1', 'key_b'), expectedOf(other));
    }
    assert.equal(await memory.remove('resp_1', 'key_b'), true);
    assert.deepEqual(await fresh().get('resp_1', 'key_a'), expectedOf(one));
  });

  it('are gone when they are deleted, also before they were written', async (test) => {
    const { fresh, memory, writer } = await opened(test);
    memory.put(one);
    assert.equal(await memory.remove('resp_1', 'key_a'), true);
    assert.equal(await memory.remove('resp_1', 'key_a'), false);
    writer.flush();
    assert.equal(await fresh().get('resp_1', 'key_a'), null);
  });

  it('stay when the database is busy while they are deleted', async (test) => {
    const { store } = await opened(test);
    const memory = responseStore(store, { push() {}, flush: () => false }, { ...usual, now: () => 1000 });
    memory.put(one);
    await assert.rejects(memory.remove('resp_1', 'key_a'), (error) => error instanceof GatewayError);
    assert.deepEqual(await memory.get('resp_1', 'key_a'), expectedOf(one));
  });

  it('expire after thirty days', async (test) => {
    const { clock, fresh, memory, writer } = await opened(test);
    memory.put(one);
    memory.put({ ...one, id: 'resp_2', createdAt: 2000 });
    writer.flush();
    clock.now = 1001 + RETENTION_MS;
    assert.equal(await memory.get('resp_1', 'key_a'), null);
    assert.notEqual(await memory.get('resp_2', 'key_a'), null);
    assert.equal(await memory.sweep(), 1);
    clock.now = 1000;
    assert.equal(await fresh().get('resp_1', 'key_a'), null);
    assert.notEqual(await fresh().get('resp_2', 'key_a'), null);
  });

  it('are bounded in size, the oldest going first', async (test) => {
    const { fresh, memory, writer } = await opened(test, { maxBytes: 20_000 });
    for (let index = 0; index < 200; index += 1)
      memory.put({
        ...one,
        id: `resp_${index}`,
        createdAt: 1000 + index,
        model: 'm',
        input: ['x'.repeat(300)],
      });
    writer.flush();
    const deleted = await memory.sweep();
    assert.ok(deleted > 100 && deleted < 200, String(deleted));
    assert.equal(await fresh().get(`resp_${deleted - 1}`, 'key_a'), null);
    assert.notEqual(await fresh().get(`resp_${deleted}`, 'key_a'), null);
    assert.equal(await memory.sweep(), 0);
  });

  it('are encrypted on the disk, each bound to its own row', async (test) => {
    const { fresh, memory, store, writer } = await opened(test);
    memory.put(one);
    memory.put({ ...one, id: 'resp_2' });
    writer.flush();
    const [row] = await store.db.selectFrom('responses').selectAll().where('id', '=', 'resp_1').execute();
    assert.deepEqual([row?.input, row?.response, row?.sealed_with], ['', '', 'this']);
    const sealed = Buffer.from(row?.sealed ?? []);
    assert.ok(sealed.length > 0);
    for (const text of ['message', 'user', 'Grüße']) assert.equal(sealed.includes(text), false, text);
    await store.db
      .updateTable('responses')
      .set({ sealed: row?.sealed ?? null })
      .where('id', '=', 'resp_2')
      .execute();
    assert.equal(await fresh().get('resp_2', 'key_a'), 'unreadable');
    assert.deepEqual(await fresh().get('resp_1', 'key_a'), expectedOf(one));
  });

  it('of another storage key are listed, cannot be read, and can be deleted', async (test) => {
    const { memory, store, writer } = await opened(test);
    memory.put(one);
    writer.flush();
    const sealing = createResponseEncryption({ key: createSecretKey(randomBytes(32)), name: 'other' });
    const other = responseStore(store, writer, { ...usual, now: () => 1000, sealing });
    assert.equal(await other.get('resp_1', 'key_a'), 'unreadable');
    assert.equal(await other.get('resp_1', 'key_b'), null);
    assert.deepEqual(await countEncrypted(store, 'other'), { total: 1, unreadable: 1 });
    assert.deepEqual(await countEncrypted(store, 'this'), { total: 1, unreadable: 0 });
    assert.equal(await other.remove('resp_1', 'key_a'), true);
    assert.equal(await other.get('resp_1', 'key_a'), null);
  });

  it('of an earlier version are read, and encrypted by the next sweep', async (test) => {
    const { fresh, memory, store } = await opened(test);
    const { input, response } = one;
    const texts = { input: JSON.stringify(input), response: JSON.stringify(response) };
    for (let index = 0; index < 120; index += 1)
      await store.db
        .insertInto('responses')
        .values({
          id: `resp_${index}`,
          created_at: 1000,
          key_id: 'key_a',
          connection_id: 'con_1',
          model: 'up/m-1',
          previous_id: null,
          bytes: expectedOf(one).length,
          ...texts,
          sealed: null,
          sealed_with: null,
        })
        .execute();
    assert.deepEqual(await memory.get('resp_1', 'key_a'), expectedOf(one));
    assert.equal(await memory.sweep(), 0);
    const plain = await store.db.selectFrom('responses').selectAll().where('input', '<>', '').execute();
    assert.deepEqual(plain, []);
    assert.deepEqual(await fresh().get('resp_119', 'key_a'), { ...expectedOf(one), id: 'resp_119' });
  });

  it('stay in memory alone if storing is off', async (test) => {
    const stored = await opened(test);
    stored.memory.put({ ...one, createdAt: 900 });
    stored.writer.flush();
    const { store, writer } = stored;
    const memory = responseStore(store, writer, { ...usual, now: () => 1001, retentionDays: 0 });
    memory.put({ ...one, id: 'resp_2' });
    writer.flush();
    assert.deepEqual(await memory.get('resp_2', 'key_a'), { ...expectedOf(one), id: 'resp_2' });
    assert.equal(await memory.sweep(), 1, 'what was stored before');
    assert.deepEqual(await store.db.selectFrom('responses').selectAll().execute(), []);
    assert.notEqual(await memory.get('resp_2', 'key_a'), null);
  });
});
