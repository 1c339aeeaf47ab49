import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fleet } from '../../support/gateway/fleet.ts';
import { json } from '../../support/upstream/steps.ts';

interface ShownQuota {
  connection: string;
  balance: {
    amounts: { currency: string; remaining: number; limit: number | null }[];
    error: string | null;
  } | null;
}

describe('the balance at a provider', () => {
  const at = fleet(1);
  const upstream = () => {
    const [first] = at.upstreams;
    assert.ok(first);
    return first;
  };
  const connect = async (provider: string) => {
    const { url } = upstream();
    const input = { provider, name: provider, base_url: url, api_key: 'sk-upstream-secret' };
    const reply = await at.manage('POST', '/api/connections', input);
    assert.equal(reply.status, 200, reply.text);
  };
  const refreshed = async (connection: string) => {
    const { quota } = await at.gateway.cliJson<{ quota: ShownQuota[] }>('quota', '--refresh');
    return quota.find((row) => row.connection === connection)?.balance;
  };

  it('is fetched with the credential of the connection, and shown by `quota`', async () => {
    for (const provider of ['openrouter', 'deepseek', 'moonshot', 'openai-compatible'])
      await connect(provider);
    const answers: Readonly<Record<string, object>> = {
      '/v1/key': { data: { label: 'sk-or-v1-1…', limit: 100, limit_remaining: 74.5, usage: 25.5 } },
      '/user/balance': {
        is_available: true,
        balance_infos: [
          { currency: 'CNY', total_balance: '110.00', granted_balance: '10.00', topped_up_balance: '100.00' },
          { currency: 'USD', total_balance: '3.50', granted_balance: '0.00', topped_up_balance: '3.50' },
        ],
      },
      '/v1/users/me/balance': { code: 0, data: { available_balance: 49.58894, voucher_balance: 46 } },
    };
    upstream().respond(({ path }) => [json(path in answers ? 200 : 404, answers[path] ?? {})]);
    const amounts = (await refreshed('deepseek'))?.amounts;
    assert.deepEqual(amounts, [
      { currency: 'CNY', remaining: 110, limit: null },
      { currency: 'USD', remaining: 3.5, limit: null },
    ]);
    assert.deepEqual(
      upstream()
        .requests.map(({ path }) => path)
        .sort(),
      Object.keys(answers).sort(),
      'who tells nothing is not asked',
    );
    for (const { header } of upstream().requests)
      assert.equal(header('authorization'), 'Bearer sk-upstream-secret');
    const { stdout } = await at.gateway.cli('quota');
    assert.match(stdout, /openrouter +money \(USD\) +- +74\.50 of 100\.00/);
    assert.match(stdout, /moonshot +money \(USD\) +- +49\.59/);
  });

  it('stays at its last value when the provider does not answer, with the reason', async () => {
    upstream().always(json(500, { error: 'sk-upstream-secret' }));
    const balance = await refreshed('moonshot');
    assert.equal(balance?.amounts[0]?.remaining, 49.58894);
    assert.match(balance?.error ?? '', /answered 500/);
    assert.doesNotMatch(JSON.stringify(balance), /secret/);
    upstream().always(json(200, { data: { available_balance: 'much' } }));
    assert.match((await refreshed('moonshot'))?.error ?? '', /unknown form/);
  });

  it('has no amount for a key without a limit', async () => {
    upstream().always(json(200, { data: { limit: null, limit_remaining: null, usage: 1 } }));
    assert.deepEqual((await refreshed('openrouter'))?.amounts, []);
    assert.equal((await refreshed('openai-compatible')) ?? null, null);
  });
});
