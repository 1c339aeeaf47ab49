import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import { startGateway, waitFor } from '../../test/support/gateway/gateway.ts';
import { temporaryFolder } from '../../test/support/machine/folder.ts';
import { databasePath, openStore } from '../store/database.ts';
import { hashKey } from './keys/keys.ts';
import { hashPassword, verifyPassword } from './passwords/password.ts';
import { keyStore } from './store.ts';
import { userStore } from './users/users.ts';

async function opened(test: TestContext) {
  const dataDir = temporaryFolder(test);
  const store = await openStore(dataDir);
  test.after(() => store.close());
  return { dataDir, store, keys: keyStore(store, () => 1000) };
}

const plain = { models: null, expiresAt: null };

describe('gateway keys', () => {
  it('are stored as a hash only: the text is in no file', async (test) => {
    const { dataDir, keys } = await opened(test);
    const { key, record } = await keys.add({ ...plain, name: 'laptop' });
    assert.equal(record.hash, hashKey(key));
    const files = [databasePath(dataDir), `${databasePath(dataDir)}-wal`].map((path) => readFileSync(path));
    assert.ok(files.some((bytes) => bytes.includes(record.hash)));
    for (const bytes of files) assert.equal(bytes.includes(key.slice(3)), false);
    assert.equal(JSON.stringify(await keys.list()).includes(key), false);
  });

  it('come back as they were made, oldest first, by id or by name', async (test) => {
    const { keys } = await opened(test);
    const { record: one } = await keys.add({ name: ' one ', models: ['a/*', 'b'], expiresAt: 5000 });
    const { record: two } = await keys.add({ ...plain, name: 'two' });
    assert.deepEqual((await keys.list()).map(({ name }) => name).sort(), ['one', 'two']);
    assert.deepEqual(await keys.find('one'), one);
    assert.deepEqual(await keys.find(two.id), two);
    assert.deepEqual(
      [one.models, one.expiresAt, one.createdAt, one.lastUsedAt],
      [['a/*', 'b'], 5000, 1000, null],
    );
    assert.equal(await keys.find('three'), null);
  });

  it('have unique names, even when two are added at once', async (test) => {
    const { keys } = await opened(test);
    await keys.add({ ...plain, name: 'taken' });
    for (const name of ['taken', ' taken ', '', '  ', 'a\nb', 'x'.repeat(101)])
      await assert.rejects(keys.add({ ...plain, name }), { code: 'invalid_request', param: 'name' }, name);
    const outcomes = await Promise.allSettled([1, 2].map(() => keys.add({ ...plain, name: 'twice' })));
    const codes = outcomes.map((outcome) => (outcome.status === 'fulfilled' ? 'added' : outcome.reason.code));
    assert.deepEqual(codes.sort(), ['added', 'invalid_request']);
  });

  it('cannot have the id of another one as their name', async (test) => {
    const { keys } = await opened(test);
    const { record } = await keys.add({ ...plain, name: 'one' });
    await assert.rejects(keys.add({ ...plain, name: record.id }), /exists already/);
  });

  it('know from the ledger when they were last used', async (test) => {
    const { keys, store } = await opened(test);
    const { record } = await keys.add({ ...plain, name: 'used' });
    await keys.add({ ...plain, name: 'idle' });
    const columns = [
      'id',
      'key_id',
      'started_at',
      'format',
      'status',
      'outcome',
      'streamed',
      'estimated',
      'duration_ms',
      'attempts',
    ];
    const row = (id: string, at: number) => [id, record.id, at, 'f', 200, 'ok', 0, 0, 1, 1];
    store.insertMany('requests', columns, [row('a', 3000), row('b', 7000), row('c', 5000)]);
    const used = new Map((await keys.list()).map(({ lastUsedAt, name }) => [name, lastUsedAt]));
    assert.deepEqual([used.get('used'), used.get('idle')], [7000, null]);
    assert.equal((await keys.find('used'))?.lastUsedAt, 7000);
  });

  it('are removed by id, once', async (test) => {
    const { keys } = await opened(test);
    const { record } = await keys.add({ ...plain, name: 'gone' });
    assert.deepEqual([await keys.remove(record.id), await keys.remove(record.id)], [true, false]);
    assert.equal(await keys.find('gone'), null);
  });

  it('that another process adds, disables or removes do so in the running gateway', async (test) => {
    const gateway = await startGateway();
    test.after(() => gateway.kill());
    const store = await openStore(gateway.dataDir);
    test.after(() => store.close());
    const keys = keyStore(store);
    const { key, record } = await keys.add({ ...plain, name: 'other', models: ['demo/echo'] });
    const ask = async (model: string) => {
      const body = { model, messages: [{ role: 'user', content: 'hi' }] };
      return (await gateway.ask('/v1/chat/completions', body, { authorization: `Bearer ${key}` })).status;
    };
    await waitFor('the new key', async () => (await ask('demo/echo')) === 200);
    assert.equal(await ask('demo/tools'), 403, 'only what its list allows');
    await store.db.updateTable('keys').set({ disabled: 1 }).where('id', '=', record.id).execute();
    await waitFor('the disabled key', async () => (await ask('demo/echo')) === 401);
    await store.db.updateTable('keys').set({ disabled: 0 }).where('id', '=', record.id).execute();
    await waitFor('the enabled key', async () => (await ask('demo/echo')) === 200);
    await keys.remove(record.id);
    await waitFor('the removed key', async () => (await ask('demo/echo')) === 401);
    await gateway.stop();
  });
});

describe('the admin password', () => {
  it('is kept as a salted scrypt hash that only the password fits', async (test) => {
    const { store } = await opened(test);
    const users = userStore(store);
    assert.equal(await users.hasAdmin(), false);
    const phc = await hashPassword('pässword');
    assert.match(phc, /^\$scrypt\$ln=17,r=8,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    assert.equal(await verifyPassword('pässword', phc), true);
    assert.equal(await verifyPassword('pa\u0308ssword', phc), true, 'however the umlaut is composed');
    assert.equal(await verifyPassword('password', phc), false);
    for (const none of ['', 'pässword', '$scrypt$', '$scrypt$ln=17,r=8,p=1$$'])
      assert.equal(await verifyPassword('pässword', none), false, none);
    await users.setAdminPassword(phc);
    await users.setAdminPassword('$changed');
    assert.equal(await users.hasAdmin(), true);
    const rows = await store.db.selectFrom('users').select(['name', 'password']).execute();
    assert.deepEqual(
      rows.map(({ name, password }) => [name, password]),
      [['admin', '$changed']],
    );
  });
});
