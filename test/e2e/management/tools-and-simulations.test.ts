import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { waitFor } from '../../support/gateway/gateway.ts';
import { managed } from '../../support/management/management.ts';

describe('the management API of tools and combos', () => {
  const at = managed();
  const owner = () => ({ token: at.ownerKey() });
  const result = (reply: { json(): Record<string, unknown> }) =>
    (reply.json()['results'] as Record<string, unknown>[])[0] ?? {};

  it('keeps a tool that somebody describes, sends a request as it, and forgets it', async () => {
    const described = {
      id: 'my-agent',
      name: 'My agent',
      binaries: ['my-agent'],
      api: 'openai-chat',
      environment: { OPENAI_BASE_URL: '<base_url>', OPENAI_API_KEY: '<api_key>' },
    };
    const made = await at.call('POST', '/api/tools', { ...owner(), body: described });
    assert.equal(made.status, 200, made.text);
    assert.equal(result(made)['configType'], 'custom-builder');
    const twice = await at.call('POST', '/api/tools', { ...owner(), body: described });
    assert.equal(twice.status, 409, twice.text);
    const test = await at.call('POST', '/api/tools/my-agent', {
      ...owner(),
      body: { action: 'test', model: 'demo/tools', api_key: at.gateway.key },
    });
    assert.equal(test.status, 200, test.text);
    const outcome = test.json();
    const { passed, request_id } = outcome['result'] as { passed: boolean; request_id: string };
    assert.equal(passed, true, test.text);
    assert.equal((await at.gateway.entry(request_id)).model, 'tools');
    assert.equal((await at.call('DELETE', '/api/tools/my-agent', owner())).status, 204);
    assert.equal((await at.call('GET', '/api/tools/my-agent', owner())).status, 404);
  });

  it('says what keeps a tool from being answered', async () => {
    const test = await at.call('POST', '/api/tools/aider', {
      ...owner(),
      body: { action: 'test', model: 'demo/nope' },
    });
    assert.equal(test.status, 200, test.text);
    const { passed } = test.json()['result'] as { passed: boolean };
    assert.equal(passed, false);
    assert.match(test.text, /the demo has no model/);
  });

  it('keeps the tools of the catalogue', async () => {
    assert.equal((await at.call('DELETE', '/api/tools/codex', owner())).status, 400);
  });

  it('replays what was asked with a combo that is not stored', async () => {
    const asked = await at.gateway.ask('/v1/chat/completions', {
      model: 'demo/echo',
      messages: [{ role: 'user', content: 'good morning' }],
    });
    await at.gateway.entry(asked.header('x-request-id'));
    const input = { targets: ['demo/tools', { target: 'demo/echo', weight: 2 }], strategy: 'priority' };
    const made = await at.call('POST', '/api/simulations', { ...owner(), body: input });
    assert.equal(made.status, 200, made.text);
    const row = result(made) as { id: string; requests: number; targets: { model: string }[] };
    assert.ok(row.requests >= 1, made.text);
    assert.deepEqual(
      row.targets.map(({ model }) => model),
      ['tools'],
    );
    const again = await at.call('GET', `/api/simulations/${row.id}`, owner());
    assert.equal(again.status, 200, again.text);
  });

  it('replays with changes to a stored combo', async () => {
    await at.call('POST', '/api/combos', { ...owner(), body: { name: 'smart', targets: ['demo/echo'] } });
    const simulated = (body: object) => at.call('POST', '/api/simulations', { ...owner(), body });
    await waitFor('the combo to be known', async () => (await simulated({ combo: 'smart' })).status === 200);
    const stored = result(await simulated({ combo: 'smart' })) as { combo: string; unchanged: number };
    assert.equal(stored.combo, 'smart');
    assert.ok(stored.unchanged >= 1);
    const changed = result(await simulated({ combo: 'smart', targets: ['demo/tools'], model: 'demo/echo' }));
    assert.deepEqual([changed['unchanged'], changed['strategy']], [0, 'priority']);
    for (const [body, status] of [
      [{}, 400],
      [{ combo: 'nope' }, 400],
      [{ targets: ['demo/echo'], limit: 1_000_000 }, 400],
    ] as const)
      assert.equal((await simulated(body)).status, status, JSON.stringify(body));
    const vic = await at.person('vic', 'viewer');
    const refused = await at.call('POST', '/api/simulations', { token: vic.token, body: { combo: 'smart' } });
    assert.equal(refused.status, 403);
  });
});
