import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../../../test/support/folder.ts';
import { openStore } from '../../store/database.ts';
import { keyStore } from '../store.ts';
import { keyReader } from './key-index.ts';

describe('the index of keys', () => {
  it('are read once, and then only those that were changed', async (test) => {
    const store = await openStore(temporaryFolder(test));
    test.after(() => store.close());
    const keys = keyStore(store);
    const plain = { models: null, expiresAt: null };
    const ids: string[] = [];
    for (let index = 0; index < 20; index += 1)
      ids.push((await keys.add({ name: `k${index}`, ...plain })).record.id);
    const asked: number[] = [];
    let whole = 0;
    const read = keyReader({
      changesAfter: keys.changesAfter,
      after: (last, limit) => {
        whole += 1;
        return keys.after(last, limit);
      },
      named: (some) => {
        asked.push(some.length);
        return keys.named(some);
      },
    });
    const first = await read();
    assert.deepEqual([...first.byId.keys()], ids.toSorted());
    assert.equal(await read(), first, 'nothing was changed');
    const [one = '', two = '', three = ''] = ids;
    const made = await keys.add({ name: 'new', ...plain });
    await keys.update(one, { disabled: true });
    await keys.remove(two);
    const old = first.byId.get(three)?.hash ?? '';
    await keys.rotate(three);
    const next = await read();
    assert.deepEqual([whole, asked], [1, [4]]);
    assert.equal(next.byId.get(made.record.id)?.name, 'new');
    assert.equal(next.byId.get(one)?.disabled, true);
    assert.deepEqual([next.byId.has(two), next.byHash.has(old), next.byHash.size], [false, false, 20]);
    assert.equal(first.byId.has(two), true, 'what was read before stays as it was');
    assert.equal(next.byId.get(ids[5] ?? ''), first.byId.get(ids[5] ?? ''));
  });

  it('are all read again where too much was changed to be told', async (test) => {
    const store = await openStore(temporaryFolder(test));
    test.after(() => store.close());
    const keys = keyStore(store);
    const read = keyReader(keys);
    assert.equal((await read()).byId.size, 0);
    await keys.add({ name: 'one', models: null, expiresAt: null });
    await keys.add({ name: 'two', models: null, expiresAt: null });
    await store.db.deleteFrom('key_changes').where('number', '=', 1).execute();
    assert.equal((await read()).byId.size, 2);
  });
});
