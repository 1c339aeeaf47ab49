import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RequestUsage } from '../budgets/reservation.ts';
import type { BudgetRecord } from '../budgets/schema.ts';
import type { WorkerEvent } from './message.ts';
import { openRemoteLimits, type RemoteLimitsInput } from './remote-limits.ts';

const budget: BudgetRecord = {
  id: 'bud_1',
  scope: 'key',
  subject: 'key_1',
  metric: 'tokens',
  period: 'day',
  limit: 1_000,
  softPercent: null,
  unpriced: 'allow',
  createdAt: 0,
  updatedAt: 0,
  resetAt: null,
};

/** What the owner is told at the end of a request that had set aside 100 tokens and 1 USD, where it was let in. */
async function settled(used: RequestUsage | null, isIn = true): Promise<WorkerEvent | undefined> {
  const told: WorkerEvent[] = [];
  const refusal = isIn ? null : { reason: 'full' };
  const owner = {
    tell: (event: WorkerEvent) => void told.push(event),
    ask: async () => ({ refusal, rates: [] }),
  } as unknown as RemoteLimitsInput['owner'];
  const limits = await openRemoteLimits({ owner, budgets: { list: async () => [budget] } });
  const reservation = limits.hold({ keyId: 'key_1', comboId: null });
  assert.ok(reservation);
  await reservation.reserve({ connectionId: 'c', innerCombos: [], tokens: () => 100, usd: () => 1 });
  reservation.settle(used);
  reservation.settle(used);
  assert.equal(told.length, 1);
  return told[0];
}

describe('the end of a request that budgets concern', () => {
  it('is told at once where it used more than it had set aside', async () => {
    for (const [used, isMore] of [
      [{ tokens: 100, usd: 1 }, false],
      [{ tokens: 101, usd: 1 }, true],
      [{ tokens: 1, usd: 1.5 }, true],
      [{ tokens: 1, usd: null }, false],
      [null, false],
    ] as const)
      assert.deepEqual(await settled(used), { kind: 'settled', reservation: 1, used, isMore });
  });

  it('is told at once where it had set nothing aside and used something', async () => {
    const used = { tokens: 5, usd: 0 };
    assert.deepEqual(await settled(used, false), { kind: 'settled', reservation: 1, used, isMore: true });
  });
});
