import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bearer } from '../../support/gateway/gateway.ts';
import { firstResult, managed } from '../../support/management/management.ts';

const at = managed({ config: { prices: { '*/echo': { input: 1_000, output: 1_000 } } } });

const owned = (method: string, path: string, body?: unknown) =>
  at.call(method, path, { token: at.ownerKey(), ...(body === undefined ? {} : { body }) });

/** A new key with one budget, and how it asks the demo. */
async function keyWith(name: string, budget: object) {
  const key = String((await at.gateway.cliJson('keys', 'add', name))['key']);
  const made = await owned('POST', '/api/budgets', { scope: 'key', subject: name, ...budget });
  assert.equal(made.status, 200, made.text);
  const path = `/api/budgets/${String(firstResult(made)['id'])}`;
  const body = { model: 'demo/echo', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] };
  return {
    path,
    ask: () => at.gateway.ask('/v1/chat/completions', body, bearer(key)),
    row: async () => (await owned('GET', path)).json(),
  };
}

const DAY_S = 86_400;

describe('a limit of a period', () => {
  for (const [period, kind, most] of [
    ['minute', 'rolling', 61],
    ['hour', 'rolling', 3_660],
    ['day', 'calendar', DAY_S],
    ['week', 'calendar', 7 * DAY_S],
    ['month', 'calendar', 31 * DAY_S],
  ] as const) {
    it(`per ${period} is exhausted until its window ends`, async () => {
      const { ask, row } = await keyWith(`one-a-${period}`, { metric: 'requests', period, limit: 1 });
      assert.equal((await ask()).status, 200);
      const { remaining, resets_at, spent, window } = await row();
      assert.deepEqual([spent, remaining, window], [1, 0, kind]);
      const refused = await ask();
      assert.equal(refused.status, 429);
      const wait = Number(refused.header('retry-after'));
      assert.ok(wait > 0 && wait <= most, `${wait} s`);
      assert.ok(refused.text.includes(` ${String(resets_at).slice(0, 19)}`), refused.text);
      // On the last seconds of a calendar's window there is nothing to be early for.
      if (wait > 30) {
        at.advance(wait - 20);
        assert.equal((await ask()).status, 429, 'it is not over yet');
        at.advance(20);
      } else at.advance(wait);
      assert.equal((await ask()).status, 200, 'it is over');
      assert.equal((await row())['spent'], 1);
      assert.equal((await ask()).status, 429);
    });
  }

  it('begins to count anew when it is reset', async () => {
    const { ask, path, row } = await keyWith('reset', { metric: 'requests', period: 'month', limit: 1 });
    assert.equal((await ask()).status, 200);
    assert.equal((await ask()).status, 429);
    const reset = await owned('POST', path, { action: 'reset' });
    assert.equal(reset.status, 200, reset.text);
    assert.equal((await row())['spent'], 0);
    assert.equal((await ask()).status, 200);
    assert.equal((await ask()).status, 429);
  });

  it('applies a change to the next request, and keeps the usage until then', async () => {
    const { ask, path } = await keyWith('changed', { metric: 'requests', period: 'day', limit: 5 });
    assert.equal((await ask()).status, 200);
    assert.equal((await ask()).status, 200);
    assert.equal((await owned('PATCH', path, { limit: 2 })).status, 200);
    assert.equal((await ask()).status, 429);
    assert.equal((await owned('PATCH', path, { limit: 3 })).status, 200);
    assert.equal((await ask()).status, 200);
  });

  it('in tokens and in USD counts input and output', async () => {
    const tokens = await keyWith('tokens', { metric: 'tokens', period: 'hour', limit: 1_000_000 });
    const usd = await keyWith('usd', { metric: 'usd', period: 'month', limit: 1_000 });
    for (const { ask, row } of [tokens, usd]) {
      const reply = await ask();
      assert.equal(reply.status, 200, reply.text);
      const { cost_usd, usage } = await at.gateway.entry(reply.header('x-request-id'));
      const { input = 0, output = 0 } = usage ?? {};
      assert.ok(input > 0 && output > 0);
      const { metric, spent } = await row();
      assert.equal(spent, metric === 'tokens' ? input + output : cost_usd);
      assert.ok(Math.abs(Number(cost_usd) - (input + output) / 1_000) < 1e-9, String(cost_usd));
    }
  });
});
