import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EndedRequests } from '../budgets/ended-requests.ts';
import type { WorkerEvent } from './message.ts';
import { createSettlements, eachSettlement } from './settlements.ts';

function open() {
  const told: WorkerEvent[] = [];
  return { told, settlements: createSettlements((event) => void told.push(event)) };
}

/** What an event says of each reservation. */
function settledIn(event: WorkerEvent | undefined): [number, EndedRequests][] {
  assert.ok(event?.kind === 'settled');
  const settled: [number, EndedRequests][] = [];
  eachSettlement(event.settlements, (...one) => void settled.push(one));
  return settled;
}

describe('settlements', () => {
  it('are added up by their reservations and told together after 50 milliseconds', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { settlements, told } = open();
    settlements.add(7, { tokens: 10, usd: 0.5 }, false);
    settlements.add(8, null, false);
    settlements.add(7, { tokens: 2, usd: null }, false);
    settlements.giveBack(7, 30);
    t.mock.timers.tick(49);
    assert.equal(told.length, 0);
    t.mock.timers.tick(1);
    assert.deepEqual(settledIn(told[0]), [
      [7, { count: 32, charged: 2, tokens: 12, nanoUsd: 500_000_000, unpriced: 1 }],
      [8, { count: 1, charged: 0, tokens: 0, nanoUsd: 0, unpriced: 0 }],
    ]);
    settlements.flush();
    t.mock.timers.tick(50);
    assert.equal(told.length, 1, 'each of them once');
  });

  it('are told at once if one used more than was set aside, or if there are many', () => {
    const { settlements, told } = open();
    settlements.add(1, { tokens: 1, usd: null }, false);
    settlements.add(2, { tokens: 9, usd: null }, true);
    assert.deepEqual(
      settledIn(told[0]).map(([reservation]) => reservation),
      [1, 2],
    );
    for (let reservation = 1; reservation <= 1_000; reservation += 1)
      settlements.add(reservation, null, false);
    assert.equal(told.length, 2);
    assert.equal(settledIn(told[1]).length, 1_000);
  });
});
