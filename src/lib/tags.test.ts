import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mergedTags, partsOf, splitTags, tagFault } from './tags.ts';

describe('tags', () => {
  it('are names, or names with a value', () => {
    assert.deepEqual(partsOf('batch'), { name: 'batch', value: null });
    assert.deepEqual(partsOf('app=a=b'), { name: 'app', value: 'a=b' });
    for (const tag of ['a', 'app=claude-code', 'x/y.z_1=two words', 'owner=Zoë Ü'])
      assert.equal(tagFault(tag), null, tag);
    for (const tag of ['', '=x', 'a=', 'two words', '-a', `a=${'x'.repeat(200)}`, 'a=b\u0007', 'a=b,c', 'ä'])
      assert.notEqual(tagFault(tag), null, tag);
  });

  it('are split at commas, without blanks', () => {
    assert.deepEqual(splitTags(' a , b = c ,, d=e '), ['a', 'b=c', 'd=e']);
  });

  it('keep what the more trusted list says of a name', () => {
    assert.deepEqual(mergedTags(['team=core'], [], ['team=other', 'a', 'b=1'], ['b', 'c']), [
      'team=core',
      'a',
      'b=1',
      'c',
    ]);
    assert.deepEqual(mergedTags(['a=1', 'b', 'a=2']), ['a=1', 'b']);
    assert.deepEqual(mergedTags([], []), []);
  });
});
