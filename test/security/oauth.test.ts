import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { waitFor } from '../support/gateway/gateway.ts';
import { firstResult, type Managed, managed, refused } from '../support/management/management.ts';
import { type OidcServer, oidcClient, startOidc } from '../support/servers/oidc.ts';
import { type ResourceServer, startResourceServer } from '../support/servers/resource-server.ts';

let at: Managed;
const started: { oidc?: OidcServer; upstream?: ResourceServer } = {};
const oidc = () => started.oidc as OidcServer;
const question = { model: 'm-1', messages: [{ role: 'user', content: 'hi' }] };
let id = '';

async function connect(): Promise<void> {
  started.oidc = await startOidc();
  started.upstream = await startResourceServer(oidc().accepts);
  const body = {
    provider: 'openai-compatible',
    name: 'ai',
    base_url: started.upstream.url,
    default_model: 'm-1',
    oauth: {
      issuer: oidc().issuer,
      client_id: oidcClient.id,
      client_secret: oidcClient.secret,
      scopes: ['openid', 'offline_access'],
    },
  };
  const made = await at.call('POST', '/api/connections', { token: at.ownerKey(), body });
  assert.equal(made.status, 200, made.text);
  const row = firstResult(made);
  id = String(row['id']);
  assert.equal(made.text.includes(oidcClient.secret), false, 'what was given is not given back');
  const { has_client_secret, logged_in } = row['oauth'] as Record<string, unknown>;
  assert.deepEqual([has_client_secret, logged_in, row['needs_reentry']], [true, false, true]);
}

interface Begun {
  taskId: string;
  result: Record<string, string>;
}

async function begin(method: 'browser' | 'device'): Promise<Begun> {
  const body = { action: 'login', method };
  const reply = await at.call('POST', `/api/connections/${id}`, { token: at.ownerKey(), body });
  assert.equal(reply.status, 200, reply.text);
  const answer = reply.json();
  return { taskId: String(answer['task_id']), result: answer['result'] as Record<string, string> };
}

async function taskEnd(taskId: string): Promise<Record<string, unknown>> {
  let task: Record<string, unknown> = {};
  await waitFor('the task', async () => {
    task = (await at.call('GET', `/api/tasks/${taskId}`, { token: at.ownerKey() })).json();
    return task['state'] === 'Finished';
  });
  return task;
}

async function shown(): Promise<Record<string, unknown>> {
  return (await at.call('GET', `/api/connections/${id}`, { token: at.ownerKey() })).json();
}

describe('a login that is begun through the management API', () => {
  at = managed();
  before(connect);
  after(async () => {
    await started.oidc?.close();
    await started.upstream?.close();
  });

  it('is for those who may change connections', async () => {
    const viewer = await at.person('only-looks', 'viewer');
    const reply = await at.call('POST', `/api/connections/${id}`, {
      token: viewer.token,
      body: { action: 'login' },
    });
    refused(reply, 403, 'forbidden');
  });

  it('ends when the browser comes back, without a token and once', async () => {
    const { result, taskId } = await begin('browser');
    const url = new URL(result['authorization_url'] ?? '');
    assert.equal(url.searchParams.get('code_challenge_method'), 'S256');
    assert.equal(
      url.searchParams.get('redirect_uri'),
      `http://127.0.0.1:${at.gateway.port}/api/oauth/callback`,
    );
    const page = await oidc().visit(url.href);
    assert.equal(page.status, 200, page.text);
    assert.match(page.text, /close this page/);
    const task = await taskEnd(taskId);
    assert.deepEqual([task['status'], task['message']], ['Ok', 'Logged in']);
    const row = await shown();
    assert.deepEqual([row['needs_reentry'], row['has_credential']], [false, true]);
    assert.equal((await at.gateway.ask('/v1/chat/completions', question)).status, 200);
    const again = await at.call('GET', new URL(page.url).pathname + new URL(page.url).search);
    assert.equal(again.status, 400, 'the same answer is worth nothing a second time');
  });

  it('ignores callbacks that it did not request, and echoes nothing of them', async () => {
    const { result, taskId } = await begin('browser');
    const state = new URL(result['authorization_url'] ?? '').searchParams.get('state') ?? '';
    const mark = '<script>alert(1)</script>';
    const callback = '/api/oauth/callback';
    for (const query of [
      '',
      '?state=guessed&code=x',
      `?code=${encodeURIComponent(mark)}&error_description=${encodeURIComponent(mark)}`,
      `?state=${state.slice(0, -1)}&code=x&redirect_uri=https://evil.example`,
    ]) {
      const reply = await at.call('GET', callback + query);
      assert.equal(reply.status, 400, query);
      assert.match(reply.header('content-type') ?? '', /^text\/html/);
      assert.match(reply.header('content-security-policy') ?? '', /default-src 'none'/);
      assert.equal(reply.header('location'), undefined);
      assert.equal(reply.header('cache-control'), 'no-store');
      assert.equal(reply.text.includes('script'), false);
    }
    assert.equal((await at.call('POST', `${callback}?state=${state}&code=x`)).status, 405);
    refused(await at.call('GET', `${callback}?state=${state}&code=x`, { host: 'evil.example' }), 403);
    // Another server's answer: the state is good, the issuer is not (RFC 9207).
    const mixed = await at.call('GET', `${callback}?state=${state}&code=x&iss=https://evil.example`);
    assert.equal(mixed.status, 400);
    const task = await taskEnd(taskId);
    assert.equal(task['status'], 'Error');
    assert.match(String(task['message']), /another issuer/);
  });

  it('says in its task that the person refused', async () => {
    const { result, taskId } = await begin('browser');
    const state = new URL(result['authorization_url'] ?? '').searchParams.get('state') ?? '';
    await at.call('GET', `/api/oauth/callback?state=${state}&error=access_denied&error_description=secret`);
    const task = await taskEnd(taskId);
    assert.equal(task['status'], 'Error');
    assert.match(String(task['message']), /refused at the provider$/);
  });

  it('ends when somebody types the code', async () => {
    const { result, taskId } = await begin('device');
    assert.match(result['user_code'] ?? '', /\w/);
    await oidc().enterCode(result['verification_url'] ?? '', result['user_code'] ?? '');
    assert.equal((await taskEnd(taskId))['status'], 'Ok');
  });

  it('requires the secret again with another client, and ends the login', async () => {
    const patch = (body: object) =>
      at.call('PATCH', `/api/connections/${id}`, { token: at.ownerKey(), body });
    const without = await patch({ oauth: { token_url: 'https://evil.example/token' } });
    assert.equal(without.status, 400, without.text);
    assert.match(without.text, /client_secret/);
    const elsewhere = await patch({ base_url: 'https://evil.example' });
    assert.equal(elsewhere.status, 400);
    const link = await patch({ oauth: { issuer: 'http://169.254.169.254', client_secret: null } });
    assert.equal(link.status, 400, link.text);
    assert.equal((await shown())['needs_reentry'], false, 'nothing was changed');
    const changed = await patch({ oauth: { client_secret: oidcClient.secret, audience: 'api' } });
    assert.equal(changed.status, 200, changed.text);
    assert.equal((await shown())['needs_reentry'], true);
  });

  it('is ended at its server by the action, and when its connection is removed', async () => {
    const logIn = async () => {
      const { result, taskId } = await begin('device');
      await oidc().enterCode(result['verification_url'] ?? '', result['user_code'] ?? '');
      assert.equal((await taskEnd(taskId))['status'], 'Ok');
      assert.equal((await at.gateway.ask('/v1/chat/completions', question)).status, 200);
      return String(started.upstream?.presented.at(-1));
    };
    const logOut = () =>
      at.call('POST', `/api/connections/${id}`, { token: at.ownerKey(), body: { action: 'logout' } });
    const actions = async () => ((await shown())['actions'] as { name: string }[]).map(({ name }) => name);
    const first = await logIn();
    assert.ok((await actions()).includes('logout'));
    const ended = await logOut();
    assert.equal(ended.status, 200, ended.text);
    assert.deepEqual(ended.json()['result'], { revoked: true });
    assert.equal((await actions()).includes('logout'), false);
    assert.equal(await oidc().accepts(first), false);
    assert.equal((await at.gateway.ask('/v1/chat/completions', question)).status, 503);
    refused(await logOut(), 409, 'conflict');
    const second = await logIn();
    const removed = await at.call('DELETE', `/api/connections/${id}`, { token: at.ownerKey() });
    assert.equal(removed.status, 204, removed.text);
    assert.equal(await oidc().accepts(second), false);
    assert.equal(oidc().revoked.includes(second), true);
  });
});
