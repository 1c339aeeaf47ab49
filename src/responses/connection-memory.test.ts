import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chainOf, itemsOf } from './chain.ts';
import { connectionMemory } from './connection-memory.ts';
import { createLruCache } from './lru-cache.ts';
import type { ResponseMemory, StoredResponse } from './stored.ts';

const response = (id: string, previousId: string | null, more: object = {}): StoredResponse => ({
  id,
  previousId,
  createdAt: 1,
  keyId: 'key_a',
  connectionId: 'c',
  model: 'm',
  input: [`in ${id}`],
  response: { id, output: [`out ${id}`] },
  ...more,
});

function opened(maxRemembered = 10_000) {
  const put: StoredResponse[] = [];
  const stored: ResponseMemory = {
    put: (one) => {
      put.push(one);
    },
    get: async (id, keyId) => {
      const response = put.find((one) => one.id === id && one.keyId === keyId);
      return response === undefined ? null : { ...response, length: 1 };
    },
    remove: async () => true,
  };
  const recent = createLruCache<string>(maxRemembered, (text) => text.length);
  return {
    put,
    memory: connectionMemory(stored, recent, 'one'),
    other: connectionMemory(stored, recent, 'two'),
  };
}

const shown = async (memory: Pick<ResponseMemory, 'get'>, id: string) => {
  const chain = await chainOf({ memory, keyId: 'key_a' }, id, 1_000_000);
  return chain === null ? null : itemsOf(chain);
};

describe('the memory of a connection', () => {
  it('continues stored responses, and is invisible to other connections and keys', async () => {
    const { memory, other } = opened();
    memory.put(response('s', null));
    memory.remember(response('a', 's'));
    memory.remember(response('b', 'a'));
    assert.deepEqual(await shown(memory, 'b'), ['in s', 'out s', 'in a', 'out a', 'in b', 'out b']);
    assert.equal(await other.get('b', 'key_a'), null);
    assert.equal(await memory.get('b', 'key_b'), null);
  });

  it('is copied into responses that are stored later, so that they are complete without it', async () => {
    const { memory, other, put } = opened();
    memory.put(response('s', null));
    memory.remember(response('a', 's'));
    memory.remember(response('b', 'a'));
    memory.put(response('c', 'b'));
    assert.equal(put.at(-1)?.previousId, 's');
    memory.forget();
    assert.deepEqual(await shown(other, 'c'), (await shown(memory, 'c')) ?? []);
    assert.deepEqual(await shown(other, 'c'), [
      'in s',
      'out s',
      'in a',
      'out a',
      'in b',
      'out b',
      'in c',
      'out c',
    ]);
    assert.equal(await memory.get('a', 'key_a'), null);
  });

  it('goes back to the last compaction', async () => {
    const { memory, put } = opened();
    const compaction = { type: 'compaction', id: 'cmp_1' };
    memory.remember(response('a', null));
    memory.remember(response('b', 'a', { response: { id: 'b', output: [compaction, 'rest'] } }));
    memory.put(response('c', 'b'));
    assert.deepEqual([put[0]?.previousId, put[0]?.input], [null, [compaction, 'rest', 'in c']]);
  });

  it('does not loop if ids repeat', async () => {
    const { memory } = opened();
    memory.remember(response('a', null));
    memory.remember(response('a', 'a'));
    assert.deepEqual(await shown(memory, 'a'), ['in a', 'out a', 'in a', 'out a']);
    memory.remember(response('b', 'a'));
    memory.remember(response('a', 'b'));
    assert.equal((await shown(memory, 'a'))?.length, 8);
  });

  it('is bounded over all connections', async () => {
    const { memory, other } = opened(500);
    memory.remember(response('a', null));
    for (const id of ['x', 'y', 'z']) other.remember(response(id, null));
    assert.equal(await memory.get('a', 'key_a'), null);
    assert.ok((await other.get('z', 'key_a')) !== null);
  });
});
