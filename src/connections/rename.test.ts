import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { temporaryFolder } from '../../test/support/machine/folder.ts';
import { openStore } from '../store/database.ts';
import { connectionStore } from './store.ts';

const nothing = { baseUrl: null, apiKey: 'secret', defaultModel: null };

async function opened(test: TestContext, provider: string, name: string) {
  const store = await openStore(temporaryFolder(test));
  test.after(() => store.close());
  const { db } = store;
  const connections = connectionStore(store, Buffer.alloc(32, 1));
  const { id } = await connections.add({ ...nothing, provider, name });
  const times = { created_at: 1, updated_at: 1 };
  const combo = async (targets: readonly string[]) => {
    const text = JSON.stringify(targets.map((target) => ({ target, weight: 2 })));
    const row = { id: 'c', name: 'c', strategy: 'priority', targets: text, options: '{}', active: 0 };
    await db
      .insertInto('combos')
      .values({ ...row, ...times })
      .execute();
  };
  const alias = (aliasName: string, target: string) =>
    db.insertInto('aliases').values({ id: aliasName, name: aliasName, target, created_at: 1 }).execute();
  const key = (models: readonly string[] | null) =>
    db
      .insertInto('keys')
      .values({
        id: `k${models?.length}`,
        name: `k${models?.length}`,
        prefix: 'sk-',
        created_at: 1,
        hash: `${models?.length}`,
        models: models === null ? null : JSON.stringify(models),
        expires_at: null,
        cache_ttl_seconds: null,
      })
      .execute();
  const named = async () => ({
    combos: (await db.selectFrom('combos').selectAll().execute()).map(({ targets }) =>
      (JSON.parse(targets) as { target: string; weight: number }[]).map(({ target, weight }) => {
        assert.equal(weight, 2);
        return target;
      }),
    ),
    aliases: (await db.selectFrom('aliases').selectAll().orderBy('id').execute()).map(({ target }) => target),
    keys: (await db.selectFrom('keys').selectAll().orderBy('id').execute()).map(({ models }) =>
      models === null ? null : JSON.parse(models),
    ),
  });
  return { store, connections, id, combo, alias, key, named };
}

describe('a connection with another name', () => {
  it('is referenced by everything that referenced it before, and by nothing else', async (test) => {
    const { alias, combo, connections, id, key, named } = await opened(test, 'openai', 'work');
    await combo(['work/a', `${id}/a`, 'work', 'workshop/a', 'openai/work/a', 'work/b/c']);
    await alias('one', 'work/a');
    await alias('two-*', 'work/x-*');
    await alias('three', 'c');
    await key(null);
    await key(['work/a', 'work/*', 'work*', 'auto']);
    await connections.update(id, { name: 'office', defaultModel: 'a' });
    assert.deepEqual(await named(), {
      combos: [['office/a', `${id}/a`, 'work', 'workshop/a', 'openai/work/a', 'office/b/c']],
      aliases: ['office/a', 'c', 'office/x-*'],
      keys: [['office/a', 'office/*', 'work*', 'auto'], null],
    });
    const record = await connections.find(id);
    assert.deepEqual([record?.name, record?.defaultModel], ['office', 'a']);
  });

  it('leaves a key what it may do with the models of a provider', async (test) => {
    const same = await opened(test, 'openai', 'openai');
    await same.key(['openai/a']);
    await same.connections.update(same.id, { name: 'work' });
    assert.deepEqual((await same.named()).keys, [['openai/a']]);
    const other = await opened(test, 'openrouter', 'before');
    // As earlier versions allowed it.
    await other.store.db.updateTable('connections').set({ name: 'openai' }).execute();
    await other.key(['openai/a']);
    await other.connections.update(other.id, { name: 'work' });
    assert.deepEqual((await other.named()).keys, [['openai/a', 'work/a']]);
  });

  it('changes no reference when the name is taken or unchanged', async (test) => {
    const { combo, connections, id, named, store } = await opened(test, 'openai', 'work');
    await connections.add({ ...nothing, provider: 'openai', name: 'taken' });
    await combo(['work/a']);
    const before = store.revision();
    await assert.rejects(connections.update(id, { name: 'taken' }), /exists already/);
    assert.equal(store.revision(), before);
    await connections.update(id, { name: 'work', active: false });
    assert.deepEqual((await named()).combos, [['work/a']]);
    assert.equal((await connections.find(id))?.active, false);
  });

  it('keeps its old name everywhere when one reference cannot be written', async (test) => {
    const { combo, connections, id, named, store } = await opened(test, 'openai', 'work');
    await combo(['work/a']);
    await store.db.updateTable('combos').set({ targets: 'no json' }).execute();
    await assert.rejects(connections.update(id, { name: 'office' }));
    assert.equal((await connections.find(id))?.name, 'work');
    await store.db.updateTable('combos').set({ targets: '[]' }).execute();
    assert.deepEqual((await named()).combos, [[]]);
  });
});
