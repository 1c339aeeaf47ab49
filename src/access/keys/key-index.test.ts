import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../../../test/support/machine/folder.ts';
import { openStore } from '../../store/database.ts';
import { keyStore } from '../store.ts';
import { changesBetween, idsOf, keyReader } from './key-index.ts';
import { keyPages } from './key-pages.ts';

describe('the index of keys', () => {
  it('is compacted after many changes, without reading unchanged keys', async (test) => {
    const store = await openStore(temporaryFolder(test));
    test.after(() => store.close());
    const keys = keyStore(store);
    await store.db.transaction().execute(async (trx) => {
      for (let index = 0; index < 1_300; index += 1)
        await keyStore({ db: trx }).add({
          name: `k${index} "ä"`,
          models: index === 3 ? ['a', 'b*'] : null,
          expiresAt: null,
        });
    });
    let pages = 0;
    const pageOf = keyPages(store);
    const read = keyReader(keys, (last, limit) => {
      pages += 1;
      return pageOf(last, limit);
    });
    const first = await read();
    const ids = idsOf(first);
    let last = first;
    for (let from = 0; from < 1_200; from += 400) {
      await store.db.transaction().execute(async (trx) => {
        for (const id of ids.slice(from, from + 400))
          await keyStore({ db: trx }).update(id, { team: 'moved' });
      });
      last = await read();
    }
    assert.equal(pages, 2, 'they were read once');
    assert.deepEqual([last.changed.size, last.packed.size], [0, 1_300]);
    const stored = await keys.list();
    assert.deepEqual(
      stored.map(({ hash, id }) => [last.byHash.get(hash), last.byId.get(id)]),
      stored.map((key) => [key, key]),
    );
    const moved = [...changesBetween(first, last)].filter(
      ({ after, before }) => after?.team !== before?.team,
    );
    assert.equal(moved.length, 1_200);
  });

  it('reads all keys once, and then only changed keys', async (test) => {
    const store = await openStore(temporaryFolder(test));
    test.after(() => store.close());
    const keys = keyStore(store);
    const plain = { models: null, expiresAt: null };
    const ids: string[] = [];
    for (let index = 0; index < 20; index += 1)
      ids.push((await keys.add({ name: `k${index}`, ...plain })).record.id);
    const readCounts: number[] = [];
    let whole = 0;
    const pages = keyPages(store);
    const named = (some: readonly string[]) => {
      readCounts.push(some.length);
      return keys.named(some);
    };
    const read = keyReader({ changesAfter: keys.changesAfter, named }, (last, limit) => {
      whole += 1;
      return pages(last, limit);
    });
    const first = await read();
    assert.deepEqual(idsOf(first), ids.toSorted());
    assert.equal(await read(), first, 'nothing was changed');
    const [one = '', two = '', three = ''] = ids;
    const made = await keys.add({ name: 'new', ...plain });
    await keys.update(one, { disabled: true });
    await keys.remove(two);
    const old = first.byId.get(three)?.hash ?? '';
    await keys.rotate(three);
    const next = await read();
    assert.deepEqual([whole, readCounts], [1, [4]]);
    assert.equal(next.byId.get(made.record.id)?.name, 'new');
    assert.equal(next.byId.get(one)?.disabled, true);
    assert.deepEqual(
      [next.byId.get(two), next.byHash.get(old), idsOf(next).length],
      [undefined, undefined, 20],
    );
    assert.ok(first.byId.get(two) !== undefined, 'what was read before stays as it was');
    const changes = [...changesBetween(first, next)].map(({ after, before }) => [before?.name, after?.name]);
    assert.deepEqual(
      changes.toSorted(),
      [
        [undefined, 'new'],
        ['k0', 'k0'],
        ['k1', undefined],
        ['k2', 'k2'],
      ],
      'and only what was changed differs',
    );
    assert.equal(next.byId.get(ids[5] ?? ''), first.byId.get(ids[5] ?? ''));
  });

  it('reads all keys again when too many have changed', async (test) => {
    const store = await openStore(temporaryFolder(test));
    test.after(() => store.close());
    const keys = keyStore(store);
    const read = keyReader(keys, keyPages(store));
    const none = await read();
    assert.deepEqual(idsOf(none), []);
    await keys.add({ name: 'one', models: null, expiresAt: null });
    await keys.add({ name: 'two', models: null, expiresAt: null });
    await store.db.deleteFrom('key_changes').where('number', '=', 1).execute();
    const both = await read();
    assert.equal(idsOf(both).length, 2);
    assert.deepEqual([...changesBetween(none, both)].map(({ after }) => after?.name).toSorted(), [
      'one',
      'two',
    ]);
  });
});
