import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { noUsage } from '../codecs/model.ts';
import { spentWith } from './spent.ts';

const priced = (usd: number | null) => () => ({ usd, source: usd === null ? null : 'table' });
const usage = { ...noUsage, input: 10, output: 5 };

describe('what several targets used for one answer', () => {
  it('is the sum, each at its own price', () => {
    const first = spentWith({ spent: null, price: priced(0.25) }, { usage, estimated: true });
    assert.deepEqual(first, { usage, estimated: true, usd: 0.25, source: 'table' });
    const both = spentWith({ spent: first, price: priced(0.5) }, { usage, estimated: false });
    assert.deepEqual(both, {
      usage: { ...noUsage, input: 20, output: 10 },
      ...{ estimated: true, usd: 0.75, source: 'table' },
    });
  });

  it('has no known cost where one of them has none, and nothing for one that wrote nothing', () => {
    const first = spentWith({ spent: null, price: priced(0.25) }, { usage, estimated: true });
    assert.equal(spentWith({ spent: first, price: priced(null) }, { usage, estimated: false }).usd, null);
    const none = spentWith({ spent: first, price: priced(null) }, { usage: null, estimated: false });
    assert.deepEqual(none, first);
  });
});
