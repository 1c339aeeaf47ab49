import assert from 'node:assert/strict';
import { it } from 'node:test';
import { lineDiff } from './line-diff.ts';

it('shows the lines that changed, with a few around them', () => {
  const before = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
  const after = before.map((line) => (line === 'b' ? 'B' : line)).concat('k');
  assert.equal(
    lineDiff(before.join('\n'), `${after.join('\n')}\n`),
    [' a', '-b', '+B', ' c', ' d', ' e', '@@', ' h', ' i', ' j', '+k'].join('\n'),
  );
  assert.equal(lineDiff('a\nb', 'a\nb\n'), '');
  assert.equal(lineDiff('x', 'y'), '-x\n+y');
});
