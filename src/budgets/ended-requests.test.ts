import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addRequests, endedRequests, noRequests, type RequestUsage, usageOf } from './ended-requests.ts';

describe('requests that have ended', () => {
  it('are added up as budgets count each of them', () => {
    const sum = noRequests();
    addRequests(sum, { tokens: 1.5, usd: 0.1 });
    addRequests(sum, { tokens: 3, usd: null });
    addRequests(sum, { tokens: 0, usd: 0.000_000_000_6 }, 2);
    addRequests(sum, null, 4);
    assert.deepEqual(sum, { count: 8, charged: 4, tokens: 5, nanoUsd: 100_000_002, unpriced: 1 });
  });

  it('say what a single one used', () => {
    const uses: (RequestUsage | null)[] = [{ tokens: 7, usd: 0.123_456_789 }, { tokens: 0, usd: null }, null];
    for (const used of uses) assert.deepEqual(usageOf(endedRequests(used)), used);
  });
});
