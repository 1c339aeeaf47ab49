import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { noUsage } from '../../codecs/wire-format.ts';
import { totalUsage } from './prior-usage.ts';

const priced = (usd: number | null) => () => ({
  usd,
  saved: usd === null ? null : usd / 4,
  source: usd === null ? null : 'table',
});
const usage = { ...noUsage, input: 10, output: 5 };

describe('what several targets used for one answer', () => {
  it('is the sum, each at its own price', () => {
    const first = totalUsage({ priorUsage: null, price: priced(0.25) }, { usage, estimated: true });
    assert.deepEqual(first, { usage, estimated: true, usd: 0.25, saved: 0.0625, source: 'table' });
    const both = totalUsage({ priorUsage: first, price: priced(0.5) }, { usage, estimated: false });
    assert.deepEqual(both, {
      usage: { ...noUsage, input: 20, output: 10 },
      estimated: true,
      usd: 0.75,
      saved: 0.1875,
      source: 'table',
    });
  });

  it('has no known cost where one of them has none, and nothing for one that wrote nothing', () => {
    const first = totalUsage({ priorUsage: null, price: priced(0.25) }, { usage, estimated: true });
    assert.equal(
      totalUsage({ priorUsage: first, price: priced(null) }, { usage, estimated: false }).usd,
      null,
    );
    const none = totalUsage({ priorUsage: first, price: priced(null) }, { usage: null, estimated: false });
    assert.deepEqual(none, first);
  });
});
