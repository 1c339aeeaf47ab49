import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { OpenReply } from '../../support/clients/client.ts';
import { waitFor } from '../../support/gateway/gateway.ts';
import { managed } from '../../support/management/management.ts';

const at = managed({ config: { api: { token_ttl_seconds: 3 } } });

async function watch(token: string, query = ''): Promise<{ reply: OpenReply; end(): void }> {
  const client = await at.gateway.client();
  const headers = { host: `127.0.0.1:${at.gateway.port}`, 'x-auth-token': token };
  await client.send({ method: 'GET', path: `/api/live${query}`, headers });
  return { reply: await client.open(), end: () => client.destroy() };
}

const ask = () =>
  at.gateway.ask('/v1/chat/completions', {
    model: 'demo/echo',
    messages: [{ role: 'user', content: 'a secret of mine' }],
  });

describe('GET /api/live', () => {
  it('sends requests as they finish, without their content', async () => {
    const { end, reply } = await watch(at.ownerKey());
    assert.equal(reply.status, 200);
    assert.match(reply.header('content-type') ?? '', /^text\/event-stream/);
    const answer = await ask();
    await reply.until('event: requests');
    await reply.until(answer.header('x-request-id') ?? 'none');
    assert.match(reply.soFar(), /"model":"echo"/);
    assert.equal(reply.soFar().includes('a secret of mine'), false);
    end();
  });

  it('sends services, and only the requested topics', async () => {
    const { end, reply } = await watch(at.ownerKey(), '?topics=services');
    await ask();
    const body = { action: 'stop', resource: { confirm: 'data-plane' } };
    const stopped = await at.call('POST', '/api/services/data-plane', { token: at.ownerKey(), body });
    assert.equal(stopped.status, 200, stopped.text);
    await reply.until('event: services');
    assert.equal(reply.soFar().includes('event: requests'), false);
    end();
    const started = await at.call('POST', '/api/services/data-plane', {
      token: at.ownerKey(),
      body: { action: 'start' },
    });
    assert.equal(started.status, 200, started.text);
  });

  it('continues after the last event that the client saw', async () => {
    const first = await watch(at.ownerKey(), '?topics=requests');
    const held = await watch(at.ownerKey(), '?topics=requests');
    await ask();
    await first.reply.until('id: ');
    const id = Number(/id: (\d+)/.exec(first.reply.soFar())?.[1]);
    first.end();
    const missed = await ask();
    await held.reply.until(missed.header('x-request-id') ?? 'none');
    const again = await watch(at.ownerKey(), `?topics=requests&since=${id}`);
    await again.reply.until(missed.header('x-request-id') ?? 'none');
    assert.equal(again.reply.soFar().includes(`id: ${id}\n`), false);
    again.end();
    held.end();
  });

  it('shows each role what it may see, and nobody else anything', async () => {
    const viewer = await at.person('vic', 'viewer');
    const denied = await at.call('GET', '/api/live?topics=requests', { token: viewer.token });
    assert.equal(denied.status, 403, denied.text);
    const unknown = await at.call('GET', '/api/live?topics=secrets', { token: viewer.token });
    assert.equal(unknown.status, 400);
    assert.equal((await at.call('GET', '/api/live')).status, 401);
  });

  it('opens eight streams for a user, however they logged in, and more for others', async () => {
    const viewer = await at.person('many', 'viewer');
    const tokens = [viewer.token, await at.login('many')];
    const open = await Promise.all(Array.from({ length: 8 }, (_, index) => watch(tokens[index % 2] ?? '')));
    for (const { reply } of open) assert.equal(reply.status, 200);
    const ninth = await at.call('GET', '/api/live', { token: viewer.token });
    assert.equal(ninth.status, 429, ninth.text);
    assert.ok(Number(ninth.header('retry-after')) > 0);
    assert.match(ninth.text, /You have 8 live streams open, and may have 8: close one of them/);
    const other = await watch(at.ownerKey());
    assert.equal(other.reply.status, 200);
    other.end();
    open[0]?.end();
    await waitFor('a stream that was closed to be free', async () => {
      const again = await watch(viewer.token);
      again.end();
      return again.reply.status === 200;
    });
    for (const { end } of open) end();
  });

  it('sends its events in a type that no browser shows as a page', async () => {
    const { end, reply } = await watch(at.ownerKey());
    assert.equal(reply.header('x-content-type-options'), 'nosniff');
    assert.equal(reply.header('content-security-policy'), "default-src 'none'; frame-ancestors 'none'");
    assert.equal(reply.header('x-frame-options'), 'DENY');
    assert.equal(reply.header('cache-control'), 'no-store');
    end();
  });

  it('ends with the login that opened it', async () => {
    const token = await at.login('admin');
    const { reply } = await watch(token);
    assert.equal((await reply.whole).end, 'complete');
    assert.equal((await at.call('GET', '/api', { token })).status, 401);
  });

  it('ends when its login is ended, whoever ends it', async () => {
    const ends: [string, (id: string, token: string) => Promise<{ status: number; text: string }>][] = [
      ['disabled', (id) => change(id, { action: 'disable' })],
      ['lowered', (id) => change(id, { action: 'edit', resource: { role: 'viewer' } })],
      ['removed', (id) => change(id, { action: 'delete' })],
      ['leaver', (_, token) => at.call('DELETE', '/api/auth', { token })],
    ];
    const change = (id: string, body: object) =>
      at.call('POST', `/api/users/${id}`, { token: at.ownerKey(), body });
    for (const [name, end] of ends) {
      const person = await at.person(name, 'operator');
      const long = await at.call('GET', '/api/auth?requester_type=ui', { token: person.token });
      const token = String(long.json()['auth_token']);
      const { reply } = await watch(token, '?topics=services');
      assert.equal(reply.status, 200, name);
      const done = await end(person.id, token);
      assert.ok(done.status === 200 || done.status === 204, done.text);
      assert.equal((await reply.whole).end, 'complete');
    }
  });
});
