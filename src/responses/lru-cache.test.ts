import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLruCache } from './lru-cache.ts';

describe('an LRU cache', () => {
  it('is bounded in size, and evicts the least recently used value first', () => {
    const recent = createLruCache<string>(10, (text) => text.length);
    recent.set('a', '1234');
    recent.set('b', '1234');
    assert.equal(recent.get('a'), '1234');
    recent.set('c', '1234');
    assert.deepEqual(
      ['a', 'b', 'c'].map((name) => recent.get(name)),
      ['1234', undefined, '1234'],
    );
  });

  it('counts a name once, and not at all when it is too large or deleted', () => {
    const recent = createLruCache<string>(10, (text) => text.length);
    recent.set('a', '12345');
    recent.set('a', '1234567');
    recent.set('b', '123');
    assert.equal(recent.get('a'), '1234567');
    recent.set('b', '12345678901');
    assert.equal(recent.get('b'), undefined);
    recent.delete('a');
    recent.delete('never');
    recent.set('c', '1234567890');
    assert.equal(recent.get('c'), '1234567890');
  });
});
