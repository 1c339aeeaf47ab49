import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fails, outcomeOf, request, whole } from '../../../test/support/routing/proxy-run.ts';
import type { RequestUsage } from '../../budgets/ended-requests.ts';
import type { Refusal } from '../../budgets/refusal.ts';
import type { BudgetReservation, ChargedRequest, ChargeScope } from '../../budgets/reservation.ts';
import { GatewayError } from '../../lib/error.ts';

const refusal: Refusal = {
  budget: {
    id: 'b',
    scope: 'connection',
    subject: 'a',
    metric: 'tokens',
    limit: 10,
    period: 'day',
    softPercent: null,
    unpriced: 'refuse',
    createdAt: 0,
    updatedAt: 0,
    resetAt: null,
  },
  subject: 'a',
  spent: 8,
  reserved: 0,
  remaining: 2,
  requested: 4_000,
  retryAt: 1_030_000,
  at: 1_000_000,
  reason: 'full',
};

/** Budgets that have no room for some connections, and remember what they were asked. */
function budgets(full: readonly string[], { late = false } = {}) {
  const chargedRequests: ChargedRequest[] = [];
  const scopes: { connection: string; tokens: number; usd: number | null }[] = [];
  const settled: (RequestUsage | null)[] = [];
  const reservation: BudgetReservation = {
    reserve(scope: ChargeScope) {
      const { connectionId: connection } = scope;
      scopes.push({ connection, tokens: scope.tokens(), usd: scope.usd() });
      const answer = full.some((name) => connection.includes(name)) ? refusal : null;
      return late ? Promise.resolve(answer) : answer;
    },
    settle: (used: RequestUsage | null) => settled.push(used),
    rates: () => [],
  };
  const reservationFor = (chargedRequest: ChargedRequest) => {
    chargedRequests.push(chargedRequest);
    return reservation;
  };
  return { limits: { reservationFor }, chargedRequests, scopes, settled };
}

describe('a request under budgets', () => {
  it('is counted by its key, its combo and its tags, and by what it used in the end', async () => {
    const { limits, chargedRequests, scopes, settled } = budgets([]);
    const { entry } = await outcomeOf(request({ a: [whole] }, { limits, fields: { max_tokens: 100 } }));
    assert.deepEqual(
      chargedRequests.map(({ keyId, tags }) => [keyId, tags]),
      [['key', []]],
    );
    assert.equal(chargedRequests[0]?.comboId, entry.comboId);
    assert.ok((scopes[0]?.tokens ?? 0) > 100, 'the output that is asked for, and the input');
    assert.deepEqual(settled, [{ tokens: 4, usd: null }]);
  });

  it('reserves the usual output if it names no limit, once for each requested answer', async () => {
    const tokens = async (fields: object) => {
      const { limits, scopes } = budgets([]);
      await outcomeOf(request({ a: [whole] }, { limits, fields }));
      return scopes[0]?.tokens ?? 0;
    };
    const one = await tokens({});
    assert.ok(one >= 4_096 && one < 4_296, String(one));
    const three = await tokens({ n: 3 });
    assert.ok(three >= 3 * 4_096 && three < 3 * 4_096 + 200, String(three));
  });

  for (const late of [false, true])
    it(`goes to the next target if a budget has no room for the first${late ? ', answered later' : ''}`, async () => {
      const { limits, scopes, settled } = budgets(['a'], { late });
      const { targets, entry, recorded } = await outcomeOf(request({ a: [], b: [whole] }, { limits }));
      assert.deepEqual([targets, entry.outcome], [['b'], 'ok']);
      assert.equal(scopes.length, 2);
      assert.deepEqual(
        recorded[0]?.trace?.skipped.map(({ connection, reason }) => [connection, reason]),
        [['a', 'limit']],
      );
      assert.deepEqual(settled, [{ tokens: 4, usd: null }]);
    });

  it('is refused with the reason of the first target if none has room, without asking an upstream', async () => {
    const { limits } = budgets(['a', 'b']);
    const { targets, begun, recorded } = request({ a: [], b: [] }, { limits });
    await assert.rejects(begun, { code: 'rate_limit_exceeded', retryAfter: 30, message: /does not fit/ });
    assert.deepEqual(targets, []);
    assert.equal(recorded[0]?.entry.errorCode, 'rate_limit_exceeded');
  });

  it('moves its reservation to the next target after a failure', async () => {
    const { limits, scopes, settled } = budgets([]);
    const { entry } = await outcomeOf(request({ a: [fails(503)], b: [whole] }, { limits }));
    assert.equal(entry.outcome, 'ok');
    assert.deepEqual(new Set(scopes.map(({ connection }) => connection)).size, 2);
    assert.deepEqual(settled.at(-1), { tokens: 4, usd: null });
  });

  for (const [name, error, code, status] of [
    ['an error of its own', new GatewayError('shutting_down', 'Gone'), 'shutting_down', 503],
    ['a fault', new Error('no answer'), 'internal_error', 500],
  ] as const)
    it(`ends with ${name} if it is unknown whether the next target has room`, async () => {
      const settled: (RequestUsage | null)[] = [];
      const reserve = async ({ connectionId }: ChargeScope) => {
        if (connectionId.includes('b')) throw error;
        return null;
      };
      const reservation: BudgetReservation = {
        reserve,
        rates: () => [],
        settle: (used) => void settled.push(used),
      };
      const limits = { reservationFor: () => reservation };
      const { targets, entry, sink } = await outcomeOf(request({ a: [fails(503)], b: [] }, { limits }));
      assert.deepEqual(
        [targets, sink.status, entry.outcome, entry.errorCode],
        [['a'], status, 'failed', code],
      );
      assert.equal(settled.length, 1);
    });
});
