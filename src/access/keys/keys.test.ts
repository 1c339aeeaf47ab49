import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { fc } from '../../../test/support/machine/properties.ts';
import { createKey, hashKey } from './keys.ts';

describe('a gateway key', () => {
  it('is sk- and at least 160 random bits', () => {
    const { key } = createKey();
    assert.match(key, /^sk-[0-9A-Za-z]+$/);
    assert.ok((key.length - 3) * Math.log2(62) >= 160, key);
  });

  it('uses every character equally often, so that its bits are random ones', () => {
    const counts = new Map<string, number>();
    const keys = Array.from({ length: 4000 }, () => createKey().key.slice(3));
    for (const char of keys.join('')) counts.set(char, (counts.get(char) ?? 0) + 1);
    const expected = keys.join('').length / 62;
    assert.equal(counts.size, 62);
    // 2065 expected of each, standard deviation 45: seven of those is beyond chance.
    for (const [char, count] of counts)
      assert.ok(Math.abs(count - expected) < 320, `${char}: ${count} times`);
    assert.equal(new Set(keys).size, keys.length);
  });

  it('is stored as its SHA-256, and shown with at most eight of its random characters', () => {
    const { hash, key, prefix } = createKey();
    assert.equal(hash, createHash('sha256').update(key).digest('hex'));
    const [first = '', last = ''] = prefix.split('…');
    assert.ok(key.startsWith(first) && key.endsWith(last) && first.startsWith('sk-'));
    assert.ok(first.length - 3 + last.length <= 8);
  });

  it('hashes like any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) =>
        assert.equal(hashKey(text), createHash('sha256').update(text, 'utf8').digest('hex')),
      ),
    );
  });
});
