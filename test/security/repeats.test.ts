import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { firstResult, managed, refused } from '../support/management/management.ts';

describe('repeated requests', () => {
  const at = managed();
  const make = (body: unknown, key: string, token = at.admin.token, path = '/api/keys') =>
    at.call('POST', path, { token, body, headers: { 'idempotency-key': key } });
  const named = async (name: string) =>
    (await at.call('GET', `/api/keys?filter[]=name='${name}'`, { token: at.admin.token })).json()['subcount'];

  it('SC-51 are carried out once with the same idempotency key, and get the same answer', async () => {
    const first = await make({ name: 'once' }, 'made-1');
    assert.equal(first.status, 200, first.text);
    const again = await make({ name: 'once' }, 'made-1');
    assert.deepEqual([again.status, again.text], [first.status, first.text], 'the same key, shown once more');
    assert.equal(again.header('idempotency-replayed'), 'true');
    assert.equal(first.header('idempotency-replayed'), undefined);
    assert.equal(await named('once'), 1);
    await at.gateway.kill();
    await at.gateway.restart();
    assert.equal((await make({ name: 'once' }, 'made-1')).text, first.text, 'also after a restart');
    for (const [body, path] of [
      [{ name: 'another' }, '/api/keys'],
      [{ name: 'once' }, '/api/v1.0.0/keys'],
      [{ name: 'once', scopes: ['keys:read'] }, '/api/tokens'],
    ] as const)
      assert.equal((await make(body, 'made-1', at.admin.token, path)).status, 422, path);
    assert.equal(await named('another'), 0);
    for (const key of ['', 'a b', 'x'.repeat(300)]) refused(await make({ name: 'bad' }, key), 400);
  });

  it('SC-51 are carried out once when many come at once', async () => {
    const replies = await Promise.all(Array.from({ length: 30 }, () => make({ name: 'raced' }, 'made-2')));
    const made = replies.filter(({ status }) => status === 200);
    assert.ok(made.length >= 1);
    for (const reply of replies) if (reply.status !== 200) refused(reply, 409, 'conflict');
    assert.equal(new Set(made.map(({ text }) => text)).size, 1);
    assert.equal(await named('raced'), 1);
  });

  it('SC-51 get the stored answer only for the same caller, while still permitted', async () => {
    const bob = await at.person('bob', 'admin');
    const first = await make({ name: 'of bob' }, 'made-3', bob.token);
    assert.equal(first.status, 200, first.text);
    const other = await make({ name: 'of bob' }, 'made-3');
    assert.notEqual(other.text, first.text, 'a key of one user is not that of another');
    assert.equal(other.header('idempotency-replayed'), undefined);
    const lowered = { token: bob.token, body: { name: 'of bob' } };
    const headers = { 'idempotency-key': 'made-3', 'x-gateway-role': 'viewer' };
    refused(await at.call('POST', '/api/keys', { ...lowered, headers }), 403, 'forbidden');
  });

  it('SC-51 are carried out after a refusal, and separately from a dry run', async () => {
    refused(await make({ name: 7 }, 'made-4'), 400);
    const dry = await make({ name: 'mended' }, 'made-4', at.admin.token, '/api/keys?dry_run=true');
    assert.equal(dry.status, 200);
    assert.equal(await named('mended'), 0);
    assert.equal((await make({ name: 'mended' }, 'made-4')).status, 200);
    assert.equal(await named('mended'), 1);
  });

  it('SC-51 include actions: a secret is not created again', async () => {
    const id = firstResult(await make({ name: 'rotated' }, 'made-5'))['id'];
    const rotate = () => make({ action: 'rotate' }, 'rotated-1', at.admin.token, `/api/keys/${id}`);
    const [first, second] = [await rotate(), await rotate()];
    assert.equal(first.status, 200, first.text);
    assert.equal(second.text, first.text);
  });

  it('SC-54 are rate-limited when they are expensive', async () => {
    const token = await at.login('admin');
    const connection = await at.call('POST', '/api/connections', {
      token,
      body: { provider: 'openai-compatible', name: 'costly', base_url: 'http://127.0.0.1:9', api_key: 'x' },
    });
    const path = `/api/connections/${firstResult(connection)['id']}`;
    const floods: [path: string, body: object, most: number][] = [
      [path, { action: 'test' }, 60],
      ['/api/backups', {}, 6],
    ];
    for (const [where, body, most] of floods) {
      // Twice as many as in a minute, for a busy machine needs longer than a moment to refuse.
      const replies = await Promise.all(
        Array.from({ length: 2 * most + 12 }, () => at.call('POST', where, { token, body })),
      );
      const late = replies.filter(({ status }) => status === 429);
      assert.ok(late.length > 0, `${where}: ${replies.map(({ status }) => status)}`);
      for (const reply of late) {
        refused(reply, 429, 'too_many_requests');
        assert.match(reply.header('retry-after') ?? '', /^[1-9]\d*$/);
      }
      at.advance(60);
      const later = await at.call('POST', where, { token, body });
      assert.notEqual(later.status, 429, where);
    }
    const make = (name: string) =>
      at.call('POST', '/api/keys', {
        token,
        body: { resources: Array.from({ length: 200 }, (_, index) => ({ name: `${name} ${index}` })) },
      });
    const limited = async (name: string) => {
      const reply = await make(name);
      assert.equal(reply.status, 200, reply.text);
      const results = reply.json()['results'] as { success?: boolean; code?: string }[];
      return results.some(({ code }) => code === 'rate_limit_exceeded');
    };
    assert.equal(await limited('many'), false);
    // While a busy machine makes them, the limit comes back.
    let reached = false;
    for (let round = 0; round < 20 && !reached; round += 1) reached = await limited(`more ${round}`);
    assert.ok(reached, 'also of many in one request');
  });
});
