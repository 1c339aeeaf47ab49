import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { basicHeader, challenged, managed, passwordOf, refused } from '../support/management/management.ts';

const times = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

describe('logging in', () => {
  const at = managed();
  const right = ['admin', passwordOf('admin')] as const;
  const auth = (more = {}) => at.call('GET', '/api/auth', more);
  const enter = (more = {}) => at.call('GET', '/api', more);

  it('AC-01 gives a token for a name and a password', async () => {
    const reply = await auth({ basic: right, headers: { accept: 'application/json' } });
    assert.equal(reply.status, 200);
    assert.match(reply.header('content-type') ?? '', /^application\/json/);
    const { auth_token, expires_on } = reply.json();
    assert.ok(typeof auth_token === 'string' && auth_token !== '');
    assert.equal(typeof expires_on, 'string');
  });

  it('AC-02 and AC-03 for ten minutes, in whole seconds', async () => {
    const before = Math.floor(Date.now() / 1000);
    const { expires_on, token_ttl } = (await auth({ basic: right })).json();
    assert.match(String(expires_on), times);
    const end = Date.parse(String(expires_on)) / 1000;
    assert.ok(end >= before + 600 - 2 && end <= before + 600 + 2, `${expires_on} is not in 600 s`);
    assert.equal(end, Math.floor(end));
    assert.equal(token_ttl, 600);
  });

  it('AC-06 accepts the token without the password', async () => {
    const token = await at.login('admin');
    for (let count = 0; count < 20; count += 1) assert.equal((await enter({ token })).status, 200);
  });

  it('AC-07 refuses an unknown token', async () => {
    challenged(await enter({ token: 'badtoken' }));
  });

  it('AC-13 refuses requests without credentials', async () => {
    challenged(await enter());
    challenged(await at.call('GET', '/api/services/management'));
  });

  it('AC-14 and AC-15 refuse a wrong password and an unknown name in the same words', async () => {
    const wrong = await auth({ basic: ['admin', 'wrong'] });
    const nobody = await auth({ basic: ['nobody', 'x'] });
    challenged(wrong);
    challenged(nobody);
    const plain = (text: string) => text.replaceAll(/req_[A-Za-z0-9_-]+/g, 'ID');
    assert.equal(plain(nobody.text), plain(wrong.text));
    const names = (reply: typeof wrong) => reply.headers.map(([name]) => name);
    assert.deepEqual(names(nobody), names(wrong));
  });

  it('AC-16 and AC-17 use the token alone, whatever is in Authorization', async () => {
    const { token } = at.admin;
    assert.equal((await enter({ token, basic: ['admin', 'wrong'] })).status, 200);
    challenged(await enter({ token: 'badtoken', basic: right }));
    challenged(await auth({ token: 'badtoken', basic: right }));
  });

  it('AC-18 an empty token does not fall back to the password', async () => {
    const empty = await enter({ token: '', basic: right });
    challenged(empty);
    const bad = await enter({ token: 'badtoken' });
    const message = (reply: typeof bad) => (reply.json()['error'] as Record<string, unknown>)['message'];
    assert.notEqual(message(empty), message(bad));
  });

  it('AC-19 and SC-32 a token or a password that is sent twice counts for nothing', async () => {
    const { token } = at.admin;
    const value = basicHeader(...right);
    const requests = [
      {
        pairs: [
          ['x-auth-token', token],
          ['x-auth-token', token],
        ],
      },
      {
        pairs: [
          ['x-auth-token', token],
          ['X-AUTH-TOKEN', 'badtoken'],
        ],
      },
      { token: `${token}, ${token}` },
      { token: `${token},${token}` },
      {
        pairs: [
          ['authorization', value],
          ['authorization', value],
        ],
      },
      {
        pairs: [
          ['authorization', value],
          ['Authorization', basicHeader('admin', 'wrong')],
        ],
      },
      {
        pairs: [
          ['authorization', `Bearer ${token}`],
          ['authorization', value],
        ],
      },
    ];
    for (const request of requests) {
      const reply = await enter(request);
      assert.ok(reply.status === 400 || reply.status === 401, `${JSON.stringify(request)}: ${reply.status}`);
      refused(reply, reply.status);
    }
  });

  it('AC-20 compares every character of a token', async () => {
    const { token } = at.admin;
    assert.equal((await enter({ token: `${token}  ` })).status, 200, 'HTTP trims');
    const flipped = `${token.slice(0, 20)}${token[20] === 'A' ? 'B' : 'A'}${token.slice(21)}`;
    const swapped = token.replace(/[a-z](?=[^a-z]*$)/, (letter) => letter.toUpperCase());
    for (const other of [
      token.toUpperCase(),
      swapped,
      flipped,
      token.slice(0, -1),
      `${token}A`,
      `"${token}"`,
    ])
      challenged(await enter({ token: other }));
  });

  it('AC-21 and SC-20 take no token from the query or a cookie, and log none', async () => {
    const token = await at.login('admin');
    for (const name of ['auth_token', 'token', 'access_token', 'x-auth-token', 'api_key'])
      challenged(await at.call('GET', `/api?${name}=${token}`));
    for (const name of ['auth_token', 'session', 'X-Auth-Token'])
      challenged(await enter({ headers: { cookie: `${name}=${token}` } }));
    const { stderr, stdout } = at.gateway.output();
    assert.equal(`${stderr}${stdout}`.includes(token), false);
  });

  it('AC-22 takes a token as Bearer too', async () => {
    const { token } = at.admin;
    assert.equal((await enter({ headers: { authorization: `Bearer ${token}` } })).status, 200);
    assert.equal((await enter({ headers: { authorization: `bearer ${token}` } })).status, 200);
    challenged(await enter({ headers: { authorization: 'Bearer badtoken' } }));
    challenged(await enter({ headers: { authorization: 'Bearer ' } }));
  });

  it('AC-23 reads the scheme in any case', async () => {
    for (const scheme of ['basic', 'BASIC', 'bAsIc']) {
      const authorization = basicHeader(...right).replace('Basic', scheme);
      assert.equal((await enter({ headers: { authorization } })).status, 200, scheme);
    }
  });

  it('AC-24 refuses a malformed login, and never fails over it', async () => {
    const encoded = (text: string | Buffer) => `Basic ${Buffer.from(text).toString('base64')}`;
    const values = [
      'Basic',
      'Basic ',
      'Basic %%%',
      'Basic YWxpY2U6',
      encoded('admin'),
      encoded(':x'),
      encoded(':'),
      encoded(`admin\0:${right[1]}`),
      encoded(`admin:${right[1]}\0`),
      encoded(`admin:${right[1]}\r\nx: y`),
      encoded(Buffer.from([0xff, 0xfe, 0x3a, 0x80])),
      encoded(`admin:${'x'.repeat(30_000)}`),
      `Basic ${encoded(right.join(':')).slice(6)} trailing`,
      'Digest username="admin"',
      'Negotiate abc',
      'NTLM abc',
      '',
    ];
    for (const authorization of values) {
      const reply = await enter({ headers: { authorization } });
      assert.ok([400, 401].includes(reply.status), `${authorization.slice(0, 60)}: ${reply.status}`);
      refused(reply, reply.status);
    }
    const long = await enter({ headers: { authorization: encoded(`admin:${'x'.repeat(65_536)}`) } });
    assert.ok([400, 401, 431].includes(long.status), String(long.status));
  });

  it('AC-45 and SC-13 give a new token every time, also at once', async () => {
    const replies = await Promise.all(Array.from({ length: 100 }, () => auth({ basic: right })));
    const tokens = replies.map((reply) => {
      assert.equal(reply.status, 200, reply.text);
      return String(reply.json()['auth_token']);
    });
    assert.equal(new Set(tokens).size, 100);
    for (const token of tokens) assert.equal((await enter({ token })).status, 200);
  });

  it('SC-06 the tokens are random', async () => {
    const tokens: string[] = [];
    for (let round = 0; round < 10; round += 1) {
      const replies = await Promise.all(Array.from({ length: 20 }, () => auth({ token: at.admin.token })));
      tokens.push(...replies.map((reply) => String(reply.json()['auth_token'])));
    }
    assert.equal(new Set(tokens).size, tokens.length);
    const secrets = tokens.map((token) => token.replace(/^gws_/, '').slice(0, 43));
    for (const secret of secrets) assert.match(secret, /^[A-Za-z0-9_-]{43}$/, '256 bits');
    // Of the 64 characters at 42 places each stands about as often as any other (chi-square, 63 degrees: p = 1e-6 at 126).
    const counts = new Map<string, number>();
    for (const character of secrets.flatMap((secret) => [...secret.slice(0, 42)]))
      counts.set(character, (counts.get(character) ?? 0) + 1);
    const expected = (secrets.length * 42) / 64;
    const chi = [...counts.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
    assert.equal(counts.size, 64);
    assert.ok(chi < 126, `chi-square is ${chi}`);
    const heads = new Set(secrets.map((secret) => secret.slice(0, 6)));
    assert.equal(heads.size, secrets.length, 'no common prefix beyond the tag');
  });

  it('AC-31 and AC-32 authenticate the request for a token', async () => {
    const ui = (await at.call('GET', '/api/auth?requester_type=ui', { basic: right })).json();
    assert.equal(ui['requester_type'], 'ui');
    assert.equal(ui['token_ttl'], 3600);
    refused(await at.call('GET', '/api/auth?requester_type=bogus', { basic: right }), 400, 'bad_request');
  });

  it('AC-33 a token for WebSockets opens nothing else', async () => {
    const token = await at.login('admin', passwordOf('admin'), '?requester_type=ws');
    challenged(await enter({ token }));
    challenged(await at.call('GET', '/api/services', { token }));
    challenged(await auth({ token }));
  });

  it('AC-26 to AC-30 a token ends when its holder says so, and no other does', async () => {
    const [one, two] = [await at.login('admin'), await at.login('admin')];
    const ended = await at.call('DELETE', '/api/auth', { token: one });
    assert.equal(ended.status, 204);
    assert.equal(ended.text, '');
    challenged(await enter({ token: one }));
    challenged(await at.call('DELETE', '/api/auth', { token: one }));
    assert.equal((await enter({ token: two })).status, 200);
    assert.equal((await at.call('DELETE', '/api/auth', { basic: right })).status, 204);
    assert.equal((await enter({ token: two })).status, 200);
  });

  it('AC-34 a token gets another, and stays', async () => {
    const token = await at.login('admin');
    const reply = await auth({ token });
    assert.equal(reply.status, 200);
    const next = String(reply.json()['auth_token']);
    assert.notEqual(next, token);
    for (const each of [token, next]) assert.equal((await enter({ token: each })).status, 200);
  });

  it('AC-84 and SC-63 gateway keys open no management path, and management tokens open no model path', async () => {
    const { key } = at.gateway;
    challenged(await enter({ token: key }));
    challenged(await enter({ headers: { authorization: `Bearer ${key}` } }));
    challenged(await enter({ headers: { 'x-api-key': key } }));
    challenged(await enter({ basic: ['admin', key] }));
    challenged(await at.call('GET', '/api/services', { token: key }));
    const { token } = at.admin;
    const places: Record<string, string>[] = [
      { authorization: `Bearer ${token}` },
      { 'x-api-key': token },
      { 'x-auth-token': token },
    ];
    for (const path of ['/v1/models', '/v1beta/models']) {
      for (const headers of places) {
        const reply = await at.call('GET', path, { headers });
        assert.equal(reply.status, 401, `${path} with ${Object.keys(headers)}`);
        assert.doesNotMatch(reply.header('www-authenticate') ?? '', /Basic/);
        assert.equal(reply.text.includes(token), false);
      }
      assert.equal((await at.call('GET', path, { basic: right })).status, 401);
    }
  });

  it('AC-87 only GET gives a token', async () => {
    const count = async () =>
      (await at.call('GET', '/api/tokens', { token: at.admin.token })).json()['count'];
    const before = await count();
    assert.equal(typeof before, 'number');
    const head = await at.call('HEAD', '/api/auth', { basic: right });
    assert.ok(head.status === 405 || head.status === 200, String(head.status));
    for (const method of ['POST', 'PUT', 'PATCH', 'TRACE', 'FROB']) {
      const reply = await at.call(method, '/api/auth', { basic: right });
      assert.ok([400, 405].includes(reply.status), `${method}: ${reply.status}`);
      assert.equal(reply.text.includes('auth_token'), false);
    }
    assert.equal(await count(), before, 'no token was made');
  });

  it('AC-88 echoes no credential', async () => {
    const secret = 'Zq7-a-very-recognisable-secret';
    const replies = [
      await enter({ token: secret }),
      await enter({ token: `gws_${secret}` }),
      await enter({ headers: { authorization: `Bearer ${secret}` } }),
      await enter({ headers: { authorization: secret } }),
      await enter({ basic: [secret, 'x'] }),
      await enter({ basic: ['admin', secret] }),
      await enter({ token: at.admin.token, headers: { 'x-gateway-role': secret } }),
      await at.call('GET', `/api/auth?requester_type=${secret}`, { token: at.admin.token }),
    ];
    for (const reply of replies) {
      assert.ok(reply.status >= 400);
      assert.equal(`${reply.text}${JSON.stringify(reply.headers)}`.includes(secret), false, reply.text);
    }
    const { stderr, stdout } = at.gateway.output();
    assert.equal(`${stderr}${stdout}`.includes(secret), false);
  });
});
