import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createUpstream, upstreamKey } from '../../cli/upstream.ts';
import { waitFor } from '../../support/gateway/gateway.ts';
import { firstResult, managed } from '../../support/management/management.ts';

/** What the gateway has, over the management API, and that a change of it holds for the next model request. */
const api = managed();
const send = async (method: string, path: string, body?: unknown) =>
  api.call(method, path, { token: api.admin.token, ...(body === undefined ? {} : { body }) });

async function get(path: string): Promise<Record<string, unknown>> {
  const reply = await send('GET', path);
  assert.equal(reply.status, 200, `${path}: ${reply.text}`);
  return reply.json();
}

async function members(path: string): Promise<Record<string, unknown>[]> {
  const { resources } = await get(`${path}${path.includes('?') ? '&' : '?'}expand=resources`);
  return resources as Record<string, unknown>[];
}

async function chat(key: string, model: string): Promise<number> {
  const body = { model, messages: [{ role: 'user', content: 'hi' }] };
  const reply = await api.gateway.ask('/v1/chat/completions', body, { authorization: `Bearer ${key}` });
  return reply.status;
}

describe('the resources of the gateway', () => {
  it('are all served, documented, and closed to gateway keys', async () => {
    const names = ['keys', 'connections', 'providers', 'models', 'requests', 'usage', 'settings'];
    const { paths } = await get('/api/openapi.json');
    for (const name of names) {
      await get(`/api/${name}`);
      assert.ok(
        Object.keys(paths as object).some((path) => path.endsWith(`/${name}`)),
        name,
      );
      const reply = await api.call('GET', `/api/${name}`, {
        headers: { authorization: `Bearer ${api.gateway.key}` },
      });
      assert.equal(reply.status, 401, name);
    }
  });

  it('apply a change of a key before the answer, not some time later', async () => {
    const made = firstResult(await send('POST', '/api/keys', { name: 'quick', models: ['demo/echo'] }));
    const key = String(made['key']);
    assert.equal(await chat(key, 'demo/echo'), 200);
    assert.equal(await chat(key, 'demo/tools'), 403);
    await send('PATCH', '/api/keys/quick', { models: null });
    assert.equal(await chat(key, 'demo/tools'), 200);
    const rotated = await send('POST', '/api/keys/quick', { action: 'rotate' });
    const { key: next } = rotated.json()['result'] as { key: string };
    assert.deepEqual([await chat(key, 'demo/echo'), await chat(next, 'demo/echo')], [401, 200]);
    await send('POST', '/api/keys/quick', { action: 'disable' });
    assert.equal(await chat(next, 'demo/echo'), 401);
    await send('POST', '/api/keys/quick', { action: 'enable' });
    assert.equal(await chat(next, 'demo/echo'), 200);
    assert.equal((await send('DELETE', '/api/keys/quick')).status, 204);
    assert.equal(await chat(next, 'demo/echo'), 401);
  });

  it('connect a provider, whose models can be asked for, and never show its credential (AC-78)', async (test) => {
    const upstream = await createUpstream();
    test.after(() => upstream.close());
    const input = { provider: 'openai', name: 'work', base_url: upstream.url, api_key: upstreamKey };
    const made = await send('POST', '/api/connections', input);
    assert.equal(made.status, 200, made.text);
    const found = await send('POST', '/api/connections/work', { action: 'discover' });
    assert.equal(found.status, 200, found.text);
    const models = (await members("/api/models?filter[]=connection='work'")).map(({ id }) => id);
    assert.deepEqual(models, ['work/small', 'work/large']);
    assert.equal((await get('/api/models/work%2Fsmall'))['provider'], 'openai');
    assert.deepEqual((await get('/api/providers/openai'))['connections'], ['work']);
    const shown = JSON.stringify([await get('/api/connections/work'), made.json(), found.json()]);
    assert.equal(shown.includes(upstreamKey.slice(3)), false);
    for (const secret of ['"api_key"', '"credential"', '"apiKey"'])
      assert.equal(shown.includes(secret), false);
    const moved = await send('PATCH', '/api/connections/work', { base_url: 'https://elsewhere.example' });
    assert.deepEqual([moved.status, moved.text.includes('api_key')], [400, true]);
    const combo = { name: 'swift', targets: ['work/small'] };
    assert.equal((await send('POST', '/api/combos', combo)).status, 200);
    const alias = { name: 'quickest', target: 'work/large' };
    assert.equal((await send('POST', '/api/aliases', alias)).status, 200);
    assert.equal((await send('PATCH', '/api/connections/work', { name: 'office' })).status, 200);
    const [target] = (await get('/api/combos/swift'))['targets'] as object[];
    assert.deepEqual(target, { target: 'office/small', weight: 1, problem: null });
    assert.equal((await get('/api/aliases/quickest'))['target'], 'office/large');
    assert.equal((await send('PATCH', '/api/connections/office', { name: 'work' })).status, 200);
    const named = await members("/api/models?filter[]=provider='modelgate'");
    assert.deepEqual(
      named.map(({ id, kind }) => [id, kind]),
      [
        ['swift', 'combo'],
        ['quickest', 'alias'],
      ],
    );
    assert.equal((await get('/api/models/swift'))['kind'], 'combo');
    await send('POST', '/api/connections/work', { action: 'disable' });
    assert.deepEqual(await members("/api/models?filter[]=connection='work'"), []);
    assert.equal((await send('DELETE', '/api/connections/work')).status, 204);
  });

  it('show a request that was made, and what it used', async () => {
    assert.equal(await chat(api.gateway.key, 'demo/echo'), 200);
    await waitFor('the ledger', async () => (await members('/api/requests?limit=1')).length === 1);
    const [row] = await members(
      "/api/requests?filter[]=model='echo'&sort_by=started_at&sort_order=desc&limit=1",
    );
    assert.deepEqual([row?.['connection'], row?.['status'], row?.['outcome']], ['demo', 200, 'ok']);
    const { trace, ...found } = await get(`/api/requests/${row?.['id']}`);
    assert.deepEqual(found, row);
    assert.equal((trace as { attempts: unknown[] }).attempts.length, 1);
    const [used] = await members("/api/usage?filter[]=by='model'&filter[]=model='echo'");
    assert.deepEqual([used?.['id'], used?.['unpriced']], ['model:demo/echo', 0]);
    assert.ok(Number(used?.['requests']) >= 1 && Number(used?.['input_tokens']) > 0);
  });

  it('write a setting to config.json, and say that it waits for the next start', async () => {
    const changed = await send('PATCH', '/api/settings/drain_ms', { value: 1234 });
    assert.deepEqual([changed.status, changed.json()['restart_required']], [200, true]);
    const path = join(api.gateway.dataDir, 'config.json');
    assert.equal(JSON.parse(readFileSync(path, 'utf8')).drain_ms, 1234);
    assert.equal((await send('PATCH', '/api/settings/drain_ms', { value: 'x' })).status, 400);
    assert.equal((await send('POST', '/api/settings/drain_ms', { action: 'reset' })).status, 200);
    assert.equal('drain_ms' in JSON.parse(readFileSync(path, 'utf8')), false);
  });
});
