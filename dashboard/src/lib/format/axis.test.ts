import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { axisTicks } from './axis.ts';

describe('the marks of an axis', () => {
  const axes: readonly [most: number, ticks: number[]][] = [
    [0, [0, 0.5, 1]],
    [3, [0, 1, 2, 3]],
    [7, [0, 2, 4, 6, 8]],
    [28_312, [0, 10_000, 20_000, 30_000]],
    [0.3, [0, 0.1, 0.2, 0.3]],
    [0.07, [0, 0.02, 0.04, 0.06, 0.08]],
    [0.000_42, [0, 0.000_1, 0.000_2, 0.000_3, 0.000_4, 0.000_5]],
    [5e12, [0, 2e12, 4e12, 6e12]],
  ];
  for (const [most, ticks] of axes)
    it(`reach ${most} in round steps`, () => assert.deepEqual(axisTicks(most, 3), ticks));

  it('are whole numbers where things are counted', () => {
    assert.deepEqual(axisTicks(0, 3, 1), [0, 1]);
    assert.deepEqual(axisTicks(2, 3, 1), [0, 1, 2]);
    assert.deepEqual(axisTicks(7, 3, 1), [0, 2, 4, 6, 8]);
    assert.deepEqual(axisTicks(160, 3, 1), [0, 50, 100, 150, 200]);
  });

  it('never end below the largest value, and are few', () => {
    for (let exponent = -9; exponent < 15; exponent += 0.01) {
      const most = 10 ** exponent;
      const ticks = axisTicks(most, 3);
      assert.ok((ticks.at(-1) ?? 0) >= most * (1 - 1e-8), `${most}: ${ticks}`);
      assert.ok(ticks.length >= 3 && ticks.length <= 6, `${most}: ${ticks}`);
    }
  });
});
