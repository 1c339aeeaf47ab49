import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nextOffset, rowsOf } from './pages.ts';

const page = (ids: readonly string[], fitting: number) => ({
  name: 'requests',
  count: 100,
  subcount: ids.length,
  subquery_count: fitting,
  resources: ids.map((id) => ({ id })),
});

describe('the pages of a list', () => {
  it('contain each row once, even when newer rows arrive between two pages', () => {
    const pages = [page(['e', 'd', 'c'], 5), page(['d', 'c', 'b'], 7), page(['b', 'a'], 8)];
    const ids = rowsOf(pages, ({ id }) => id).map(({ id }) => id);
    assert.deepEqual(ids, ['e', 'd', 'c', 'b', 'a']);
  });

  it('go on where the last one ended, until all are there', () => {
    const [first, second, third] = [page(['c', 'b'], 3), page(['a'], 3), page([], 9)];
    assert.equal(nextOffset(first, [first]), 2);
    assert.equal(nextOffset(second, [first, second]), undefined);
    assert.equal(nextOffset(third, [first, third]), undefined, 'an empty page ends it');
    const { subquery_count: _, ...unfiltered } = first;
    assert.equal(nextOffset(unfiltered, [unfiltered]), 2);
  });
});
