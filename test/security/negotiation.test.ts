import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openClient, type Reply } from '../support/clients/client.ts';
import { challenged, managed, refused } from '../support/management/management.ts';

describe('content negotiation of the management API', () => {
  const at = managed();
  const get = (path: string, more = {}) => at.call('GET', path, { token: at.admin.token, ...more });
  const accepting = (accept: string, more = {}) => get('/api/users', { headers: { accept }, ...more });
  /** Sends bytes as they are and reads what comes back until the connection closes, or half a minute is over. */
  const raw = async (text: string): Promise<Reply | null> => {
    const client = await openClient(at.gateway.port);
    try {
      await client.write(text);
      return await Promise.race([
        client.reply(),
        new Promise<null>((resolve) => setTimeout(() => resolve(null), 30_000).unref()),
      ]);
    } catch {
      return null;
    } finally {
      client.destroy();
    }
  };
  const own = () => `127.0.0.1:${at.gateway.port}`;

  it('AC-50 answers JSON alone: for anything else 415', async () => {
    for (const accept of ['application/xml', 'text/html', 'image/*'])
      refused(await accepting(accept), 415, 'unsupported_media_type');
  });

  it('AC-51 accepts no Accept header, */*, and JSON types', async () => {
    const accepts = [
      '*/*',
      'application/*',
      'application/json',
      'application/vnd.x+json',
      'application/xml, */*;q=0.1',
      '',
    ];
    for (const accept of accepts) {
      const reply = await accepting(accept);
      assert.equal(reply.status, 200, accept);
      assert.match(reply.header('content-type') ?? '', /^application\/json/);
    }
    assert.equal((await get('/api/users')).status, 200);
  });

  it('AC-52 authenticates first', async () => {
    challenged(await accepting('application/xml', { token: 'badtoken' }));
  });

  it('AC-53 reads a body as JSON, whatever a program calls it', async () => {
    for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'application/octet-stream']) {
      const body = JSON.stringify({ name: `typed ${type.length}` });
      const reply = await at.call('POST', '/api/keys', {
        token: at.admin.token,
        body,
        headers: { 'content-type': type },
      });
      assert.equal(reply.status, 200, reply.text);
    }
  });

  it('AC-54 says that a body is not JSON, without details of the parser', async () => {
    for (const body of ['{', '{"name":}', '{"name":"x"', "{'name':'x'}", 'name=x', '\u0000', '{"a":1}{']) {
      const reply = await at.call('POST', '/api/keys', { token: at.admin.token, body });
      refused(reply, 400, 'bad_request');
      assert.doesNotMatch(reply.text, /position|token|Unexpected|SyntaxError|JSON\.parse/);
    }
  });

  it('SC-38 refuses text that is not UTF-8', async () => {
    const body = Buffer.from([...Buffer.from('{"name":"a'), 0xff, 0xc0, 0x80, ...Buffer.from('"}')]);
    const pairs = [
      ['content-type', 'application/json'],
      ['x-auth-token', at.admin.token],
      ['host', own()],
    ] as const;
    const reply = await at.gateway.send({ method: 'POST', path: '/api/keys', headers: pairs, body });
    refused(reply, 400, 'bad_request');
  });

  it('AC-55 answers ping to anybody', async () => {
    const reply = await at.call('GET', '/api/ping');
    assert.equal(reply.status, 200);
    assert.equal(reply.text, 'pong');
    assert.match(reply.header('content-type') ?? '', /^text\/plain/);
    assert.equal(reply.header('set-cookie'), undefined);
  });

  it('AC-56 and AC-57 shows its entry point to authenticated callers, and nothing to others', async () => {
    const entry = (await get('/api')).json();
    for (const member of [
      'name',
      'description',
      'version',
      'versions',
      'identity',
      'server_info',
      'collections',
    ])
      assert.ok(member in entry, member);
    const names = (entry['collections'] as { name: string }[]).map(({ name }) => name);
    assert.deepEqual(names, [...names].sort());
    assert.equal((entry['identity'] as Record<string, unknown>)['userid'], 'admin');
    for (const path of ['/api', '/api/', '/api/users', '/api/openapi.json', '/api/docs', '/api/nothing']) {
      const reply = await at.call('GET', path);
      challenged(reply);
      const { version } = entry['server_info'] as { version: string };
      assert.equal(`${reply.text}${JSON.stringify(reply.headers)}`.includes(version), false, 'SC-62');
      assert.equal(reply.header('server'), undefined);
      assert.equal(reply.header('x-powered-by'), undefined);
    }
  });

  it('AC-58 and AC-59 serves its version by name, and no other', async () => {
    const { version } = (await get('/api')).json();
    const reply = await get(`/api/v${version}/users?expand=resources`);
    assert.equal(reply.status, 200);
    const [first] = reply.json()['resources'] as { href: string }[];
    assert.ok(first?.href.startsWith(`/api/v${version}/users/`), first?.href);
    for (const other of ['9999.9', '0', '1.0.1', '2.0.0'])
      refused(await get(`/api/v${other}/users`), 400, 'bad_request');
    challenged(await at.call('GET', '/api/v9999.9/users'));
  });

  it('AC-60 lists the allowed methods, and no more', async () => {
    const reply = await at.call('OPTIONS', '/api/users');
    assert.ok(reply.status === 200 || reply.status === 204);
    assert.match(reply.header('allow') ?? '', /GET/);
    assert.equal(reply.text, '');
    assert.equal(reply.header('access-control-allow-origin'), undefined);
    const known = await at.call('OPTIONS', '/api/users/1');
    const unknown = await at.call('OPTIONS', '/api/users/nope');
    assert.equal(known.header('allow'), unknown.header('allow'), 'not what exists');
  });

  it('AC-85 and SC-24 answers only under its own names', async () => {
    const { port } = at.gateway;
    const good = [
      own(),
      `localhost:${port}`,
      `LOCALHOST:${port}`,
      `[::1]:${port}`,
      '127.0.0.1',
      'localhost:1',
    ];
    for (const host of good) assert.equal((await get('/api', { host })).status, 200, host);
    const evil = [
      'evil.example',
      `evil.example:${port}`,
      `127.0.0.1.evil.example:${port}`,
      `localhost.evil.example`,
      'localhost.',
      'evil.example@127.0.0.1',
      '127.0.0.1/evil',
      '127.0.0.1#evil',
      '127.0.0.1 evil',
      '[::2]',
      '0.0.0.0',
      '',
      'null',
      '::1',
    ];
    for (const host of evil) {
      for (const more of [{}, { token: 'badtoken' }]) {
        const reply = await get('/api', { host, ...more });
        assert.ok(reply.status === 400 || reply.status === 403, `${host}: ${reply.status}`);
        refused(reply, reply.status);
      }
    }
    for (const path of ['/api/ping', '/api/setup', '/api/nothing', '/api/v9.9/x', '//api'])
      refused(await at.call('GET', path, { host: 'evil.example' }), 403, 'forbidden');
    const twice = await get('/api', {
      host: null,
      pairs: [
        ['host', own()],
        ['host', 'evil.example'],
      ],
    });
    assert.ok(twice.status === 400 || twice.status === 403);
    const same = await get('/api', {
      host: null,
      pairs: [
        ['host', own()],
        ['host', own()],
      ],
    });
    assert.ok(same.status === 400 || same.status === 403);
    const without = await raw(`GET /api HTTP/1.0\r\nx-auth-token: ${at.admin.token}\r\n\r\n`);
    assert.ok(without === null || without.status === 400 || without.status === 403);
  });

  it('SC-24 checks the host of an absolute target too', async () => {
    assert.equal((await get(`http://${own()}/api`)).status, 200);
    refused(await get('http://evil.example/api'), 403, 'forbidden');
    refused(await get(`http://${own()}/api`, { host: 'evil.example' }), 403, 'forbidden');
    refused(await get('http://evil.example@127.0.0.1/api'), 403, 'forbidden');
  });

  it('SC-28 builds its hrefs from nothing that a client sends', async () => {
    const headers = {
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'https',
      'x-forwarded-prefix': '/evil',
      forwarded: 'host=evil.example;proto=https',
      'x-original-url': '/evil',
      'x-rewrite-url': '/evil',
    };
    for (const path of ['/api', '/api/users?expand=resources', '/api/users?limit=1'])
      assert.doesNotMatch((await get(path, { headers })).text, /evil/);
  });

  it('AC-86 and SC-55 sends the protective headers with every answer', async () => {
    const replies = [
      await get('/api'),
      await get('/api/users'),
      await get('/api/nothing'),
      await get('/api/users/nope'),
      await get('/api/users', { token: 'badtoken' }),
      await get('/api', { host: 'evil.example' }),
      await get('/api/users?limit=x'),
      await at.call('PUT', '/api/users', { token: at.admin.token, body: {} }),
      await at.call('DELETE', '/api', { token: at.admin.token }),
      await at.call('GET', '/api/ping'),
      await at.call('OPTIONS', '/api/users'),
      await get('/api/docs'),
      await get('/api/openapi.json'),
      await get('/api/%zz'),
    ];
    for (const reply of replies) {
      assert.equal(reply.header('cache-control'), 'no-store', reply.text);
      assert.equal(reply.header('x-content-type-options'), 'nosniff', reply.text);
      assert.equal(reply.header('referrer-policy'), 'no-referrer');
      assert.match(reply.header('content-security-policy') ?? '', /frame-ancestors 'none'/);
      assert.match(reply.header('content-security-policy') ?? '', /default-src 'none'/);
      assert.match(reply.header('x-request-id') ?? '', /^req_/);
      assert.equal(reply.header('access-control-allow-origin'), undefined);
      assert.equal(reply.header('set-cookie'), undefined);
      if (reply.status >= 400) refused(reply, reply.status);
    }
    const docs = await get('/api/docs');
    assert.doesNotMatch(docs.header('content-security-policy') ?? '', /script-src|unsafe-eval|https?:/);
    assert.doesNotMatch(docs.text, /<script/i);
  });

  it('AC-87 and SC-31 refuses unknown methods', async () => {
    const { token } = at.admin;
    assert.equal((await at.call('HEAD', '/api/users', { token })).status, 200);
    assert.equal((await at.call('HEAD', '/api/users', { token })).text, '');
    refused(await at.call('TRACE', '/api/users', { token }), 405);
    for (const method of ['PROPFIND', 'LOCK', 'PURGE', 'SEARCH'])
      refused(await at.call(method, '/api/users', { token }), 405);
    const unknown = await at.call('FROB', '/api/users', { token });
    assert.ok([400, 405].includes(unknown.status));
    const tunnel = await raw(`CONNECT ${own()} HTTP/1.1\r\nhost: ${own()}\r\n\r\n`);
    assert.ok(tunnel === null || tunnel.status >= 400, 'no tunnel');
    for (const name of ['x-http-method-override', 'x-method-override', 'x-http-method']) {
      const reply = await get('/api/users', { headers: { [name]: 'DELETE' } });
      assert.equal(reply.status, 200);
    }
  });

  it('SC-29 and SC-30 refuses requests whose end is ambiguous', async () => {
    const head = (lines: string) =>
      `POST /api/keys HTTP/1.1\r\nhost: ${own()}\r\nx-auth-token: ${at.admin.token}\r\n${lines}`;
    const smuggled = `GET /api/users HTTP/1.1\r\nhost: ${own()}\r\nx-auth-token: ${at.admin.token}\r\n\r\n`;
    const requests: Record<string, string> = {
      'both framings': `${head('content-length: 4\r\ntransfer-encoding: chunked\r\n')}\r\n0\r\n\r\n${smuggled}`,
      'two lengths': `${head('content-length: 2\r\ncontent-length: 9\r\n')}\r\n{}${smuggled}`,
      'a list of lengths': `${head('content-length: 2, 9\r\n')}\r\n{}${smuggled}`,
      'a negative length': `${head('content-length: -2\r\n')}\r\n{}`,
      'a length with a sign': `${head('content-length: +2\r\n')}\r\n{}`,
      'a hexadecimal length': `${head('content-length: 0x2\r\n')}\r\n{}`,
      'a folded header': `${head('x-a: b\r\n folded\r\ncontent-length: 2\r\n')}\r\n{}`,
      'a space before the colon': `${head('content-length : 2\r\n')}\r\n{}`,
      'a NUL in a header': `${head('x-a: b\0c\r\ncontent-length: 2\r\n')}\r\n{}`,
      'bare line feeds': head('content-length: 2\r\n').replaceAll('\r\n', '\n').concat('\n{}'),
      'another encoding': `${head('transfer-encoding: xchunked\r\n')}\r\n0\r\n\r\n${smuggled}`,
      identity: `${head('transfer-encoding: identity\r\n')}\r\n${smuggled}`,
      'chunked, then something': `${head('transfer-encoding: chunked, gzip\r\n')}\r\n0\r\n\r\n${smuggled}`,
      'two encodings': `${head('transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n')}\r\n0\r\n\r\n${smuggled}`,
      'a bad chunk': `${head('transfer-encoding: chunked\r\n')}\r\nzz\r\n{}\r\n0\r\n\r\n`,
      'another protocol': `GET /api HTTP/9.9\r\nhost: ${own()}\r\n\r\n`,
    };
    for (const [name, text] of Object.entries(requests)) {
      const reply = await raw(text);
      assert.ok(
        reply === null || [400, 405, 411, 501, 505].includes(reply.status),
        `${name}: ${reply?.status}`,
      );
      if (reply === null || reply.text === '') continue;
      assert.match(reply.header('content-type') ?? '', /^application\/json/, `SC-57 ${name}`);
      assert.ok(typeof reply.json()['error'] === 'object', name);
    }
  });

  it('SC-29 refuses requests without an HTTP version', async () => {
    const reply = await raw('GET /api\r\n\r\n');
    assert.ok(reply === null || reply.status >= 400, reply?.text);
  });

  it('SC-49 limits the size of headers', async () => {
    const long = await get('/api', { headers: { 'x-long': 'x'.repeat(100_000) } });
    assert.equal(long.status, 431);
    assert.match(long.header('content-type') ?? '', /^application\/json/);
    const many = Array.from({ length: 3000 }, (_, index) => [`x-${index}`, 'y'] as const);
    const reply = await get('/api', { pairs: many });
    assert.ok([200, 400, 431].includes(reply.status), String(reply.status));
  });

  it('SC-38 refuses compressed bodies that expand too far', async () => {
    const { token } = at.admin;
    const post = (body: string) => at.call('POST', '/api/keys', { token, body });
    const bombs: Record<string, string> = {
      'deep arrays': '['.repeat(100_000),
      'deep arrays that end': `${'['.repeat(10_000)}${']'.repeat(10_000)}`,
      'deep objects': `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`,
      'a deep member': `{"name":${'['.repeat(10_000)}${']'.repeat(10_000)}}`,
      'a deep edit': `{"action":"edit","resource":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}}`,
      'many members': `{${Array.from({ length: 60_000 }, (_, index) => `"k${index}":1`).join()}}`,
      'a number beyond all': '{"name":"x","expires_at":1e999}',
      'half a character': '{"name":"\\ud800"}',
      'too long': `{"name":"${'x'.repeat(2_000_000)}"}`,
    };
    for (const [name, body] of Object.entries(bombs)) {
      const reply = await post(body);
      assert.ok(
        reply.status === 400 || reply.status === 413,
        `${name}: ${reply.status} ${reply.text.slice(0, 200)}`,
      );
      refused(reply, reply.status);
      assert.ok(reply.text.length < 2000, `${name} comes back`);
    }
    const said = await raw(
      `POST /api/keys HTTP/1.1\r\nhost: ${own()}\r\nx-auth-token: ${token}\r\ncontent-length: 104857600\r\nexpect: 100-continue\r\n\r\n`,
    );
    assert.ok(said !== null && said.status !== 200);
  });

  it('SC-61 serves no files', async () => {
    for (const path of [
      '/.git/config',
      '/.env',
      '/api/.git/config',
      '/api/../package.json',
      '/api/%2e%2e/package.json',
      '/api/..%2f..%2fetc%2fpasswd',
      '/package.json',
      '/src/cli/main.ts',
      '/backup.zip',
      '/api/users/..%2f..%2f',
      '/api/%00',
      '/config.json',
      '/data/gateway.db',
      '/api/setup.code',
      '/setup.code',
      '/server-status',
      '/debug',
    ]) {
      const reply = await get(path);
      assert.ok([400, 404, 405].includes(reply.status), `${path}: ${reply.status}`);
      assert.doesNotMatch(reply.text, /repositoryformat|"dependencies"|root:/);
    }
  });

  it('SC-43 reveals no details of an internal fault', async () => {
    const odd = [
      '/api/users/%00',
      '/api/users/%ff',
      `/api/users/${'x'.repeat(8000)}`,
      '/api/users/__proto__',
      '/api/users/constructor',
      '/api/__proto__',
      '/api/constructor',
      '/api/toString',
      '/api/users/1/2/3',
      '/api/users//',
      '/api/users?filter[]=',
      '/api/users?%ff=1',
    ];
    for (const path of odd) {
      const reply = await get(path);
      assert.ok(reply.status < 500, `${path}: ${reply.status}`);
      if (reply.status >= 400) refused(reply, reply.status);
    }
    assert.doesNotMatch(
      at.gateway.output().stderr,
      /the (?:management API|MCP server|A2A server|audit log) failed/,
    );
  });
});
