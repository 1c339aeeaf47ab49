import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/support/machine/properties.ts';
import { createInOrder } from './in-order.ts';

describe('messages that are settled in any order', () => {
  it('are reported in their original order, each once, and none before all earlier ones', () => {
    const orders = fc.array(fc.nat({ max: 30 }), { maxLength: 60 });
    fc.assert(
      fc.property(fc.nat({ max: 30 }), orders, (count, order) => {
        const inOrder = createInOrder<number>();
        for (let message = 0; message < count; message += 1) inOrder.add(message);
        const settled = new Set<number>();
        const told: number[] = [];
        for (const message of order) {
          told.push(...inOrder.settle(message));
          if (message < count) settled.add(message);
          let first = 0;
          while (settled.has(first)) first += 1;
          assert.deepEqual(told, [...Array(first).keys()]);
          assert.equal(inOrder.unsettled, count - settled.size);
        }
      }),
    );
  });
});
