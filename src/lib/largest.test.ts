import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { nthLargest } from './largest.ts';

it('equals the result of sorting', () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ noNaN: true, min: -1e9 })),
      fc.integer({ min: 1, max: 12 }),
      (values, rank) => {
        const expected = values.toSorted((one, other) => other - one)[rank - 1] ?? Number.NEGATIVE_INFINITY;
        // The sign of zero does not matter.
        assert.equal(nthLargest(values, rank) + 0, expected + 0);
      },
    ),
  );
});
