import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { refusedSocket } from '../support/clients/socket.ts';
import { challenged, managed, passwordOf, refused } from '../support/management/management.ts';

/**
 * What browsers send, as it was measured in Chromium 156: a form that any page submits carries a remembered Basic
 * login, `Origin` and, on loopback, `Sec-Fetch-Site`; over plain HTTP on another name, no `Sec-Fetch-*` at all.
 */
describe('pages of other origins', () => {
  const at = managed();
  const basic = ['admin', passwordOf('admin')] as const;
  const body = JSON.stringify({ name: 'planted' });
  const own = () => `http://127.0.0.1:${at.gateway.port}`;
  const keys = async () => {
    const reply = await at.call('GET', '/api/keys?expand=resources', { token: at.ownerKey() });
    return (reply.json()['resources'] as { name: string }[]).map(({ name }) => name);
  };
  const tokens = async () => (await at.call('GET', '/api/tokens', { token: at.ownerKey() })).json()['count'];
  const evil = () => [
    'https://evil.example',
    'null',
    'file://',
    `http://127.0.0.1:${at.gateway.port + 1}`,
    `http://localhost:${at.gateway.port}`,
    `http://127.0.0.1`,
    `http://127.0.0.1:${at.gateway.port}.evil.example`,
    `http://evil.example:${at.gateway.port}`,
    `http://127.0.0.1:${at.gateway.port}@evil.example`,
    `http://evil127.0.0.1:${at.gateway.port}`,
    `chrome-extension://127.0.0.1:${at.gateway.port}`,
    `${'http://127.0.0.1'}:${at.gateway.port} https://evil.example`,
    '',
  ];

  it('SC-21 cannot submit a form with a remembered login', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
    ]) {
      const headers = {
        'content-type': type,
        origin: 'https://evil.example',
        'sec-fetch-site': 'cross-site',
        'sec-fetch-mode': 'navigate',
      };
      refused(await at.call('POST', '/api/keys', { basic, body, headers }), 403, 'forbidden');
    }
    assert.equal((await keys()).includes('planted'), false);
  });

  it('SC-22 not from another port of this machine, nor where browsers send no Sec-Fetch', async () => {
    for (const origin of evil()) {
      const reply = await at.call('POST', '/api/keys', {
        basic,
        body,
        headers: { 'content-type': 'text/plain', origin },
      });
      refused(reply, 403, 'forbidden');
    }
    for (const site of ['cross-site', 'same-site', 'nonsense', '', 'same-origin, cross-site'])
      refused(
        await at.call('POST', '/api/keys', { basic, body, headers: { 'sec-fetch-site': site } }),
        403,
        'forbidden',
      );
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
      refused(
        await at.call(method, '/api/keys/1', { token: at.admin.token, body, headers: { origin: 'null' } }),
        403,
      );
    assert.equal((await keys()).includes('planted'), false);
  });

  it('SC-22 nor with two origins of which one is right', async () => {
    const pairs = [
      ['origin', own()],
      ['origin', 'https://evil.example'],
    ] as const;
    refused(await at.call('POST', '/api/keys', { basic, body, pairs }), 403, 'forbidden');
  });

  it('AC-53 and SC-21 a page of our own logs in with JSON alone', async () => {
    const headers = { origin: own(), 'sec-fetch-site': 'same-origin' };
    const form = await at.call('POST', '/api/keys', {
      basic,
      body,
      headers: { ...headers, 'content-type': 'text/plain' },
    });
    refused(form, 415, 'unsupported_media_type');
    assert.equal((await keys()).includes('planted'), false);
    const named = JSON.stringify({ name: 'of the dashboard' });
    const right = await at.call('POST', '/api/keys', {
      basic,
      body: named,
      headers: { ...headers, 'content-type': 'application/json' },
    });
    assert.equal(right.status, 200, right.text);
    const byToken = await at.call('POST', '/api/keys', {
      token: at.admin.token,
      body: JSON.stringify({ name: 'of the token' }),
      headers,
    });
    assert.equal(byToken.status, 200, byToken.text);
  });

  it('SC-23 get no token', async () => {
    const before = await tokens();
    for (const origin of evil().slice(0, 8))
      refused(await at.call('GET', '/api/auth', { basic, headers: { origin } }), 403, 'forbidden');
    for (const site of ['cross-site', 'same-site'])
      refused(
        await at.call('GET', '/api/auth', { basic, headers: { 'sec-fetch-site': site } }),
        403,
        'forbidden',
      );
    assert.equal(await tokens(), before);
  });

  it('SC-23 GET changes nothing', async () => {
    const [before, count] = [await keys(), await tokens()];
    for (const path of [
      '/api/keys?action=create&name=planted',
      '/api/keys?method=POST',
      '/api/users?action=delete',
      '/api/keys/1?action=delete',
    ])
      await at.call('GET', path, { token: at.admin.token, body });
    assert.deepEqual(await keys(), before);
    assert.equal(await tokens(), count);
  });

  it('SC-25 cannot come in under a name of their own (DNS rebinding)', async () => {
    for (const method of ['GET', 'POST', 'OPTIONS', 'HEAD']) {
      const host = `rebind.test:${at.gateway.port}`;
      const reply = await at.call(method, '/api/keys', {
        token: at.admin.token,
        host,
        headers: { origin: `http://${host}` },
      });
      assert.equal(reply.status, 403);
      assert.equal(reply.text.includes('planted'), false);
    }
  });

  it('SC-26 may read nothing: no origin is allowed, whatever the request', async () => {
    for (const origin of [...evil(), own()]) {
      const replies = [
        await at.call('GET', '/api/keys', { token: at.admin.token, headers: { origin } }),
        await at.call('GET', '/api/keys', { headers: { origin } }),
        await at.call('GET', '/api/ping', { headers: { origin } }),
        await at.call('OPTIONS', '/api/keys', {
          headers: {
            origin,
            'access-control-request-method': 'POST',
            'access-control-request-headers': 'x-auth-token',
            'access-control-request-private-network': 'true',
          },
        }),
      ];
      for (const reply of replies)
        for (const [name] of reply.headers)
          assert.doesNotMatch(name, /^access-control-/i, `${origin}: ${reply.status}`);
    }
  });

  it('SC-27 open no stream and no WebSocket', async () => {
    challenged(await at.call('GET', '/api/live'));
    challenged(await at.call('GET', '/api/live', { headers: { origin: 'https://evil.example' } }));
    challenged(await at.call('GET', `/api/live?auth_token=${at.admin.token}`));
    for (const path of ['/api/live', '/api', '/api/ws', '/api/users']) {
      const refusal = await refusedSocket(at.gateway, path, {
        'x-auth-token': at.admin.token,
        origin: 'https://evil.example',
      });
      assert.ok(refusal.status >= 400, `${path}: ${refusal.status}`);
    }
    refused(await at.call('GET', '/api/live', { token: at.admin.token, host: 'rebind.test' }), 403);
  });

  it('SC-56 could do nothing with an answer that is opened as a page', async () => {
    const reply = await at.call('GET', '/api/keys', {
      token: at.admin.token,
      headers: { accept: 'text/html,*/*' },
    });
    assert.match(reply.header('content-type') ?? '', /^application\/json/);
    assert.equal(reply.header('x-content-type-options'), 'nosniff');
    assert.match(reply.header('content-security-policy') ?? '', /default-src 'none'/);
    assert.equal(reply.header('x-frame-options'), 'DENY');
  });
});
