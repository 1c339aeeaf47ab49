import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { Reply } from '../../support/clients/client.ts';
import { chat, type Format, formats, messages } from '../../support/formats/formats.ts';
import { bearer } from '../../support/gateway/gateway.ts';
import { setting } from '../../support/gateway/setting.ts';
import { json } from '../../support/upstream/steps.ts';

const at = setting({ env: { GATEWAY_LOG_LEVEL: 'debug' }, config: { limits: { body_bytes: 100_000 } } });

/** The path without its `/v1`. */
const bare = (format: Format) => format.path.slice('/v1'.length);

/** Fails unless the reply is a JSON error of the dialect; returns its error object. */
function errorOf(reply: Reply, dialect: 'openai' | 'anthropic'): Record<string, unknown> {
  assert.match(reply.header('content-type') ?? '', /^application\/json/, reply.text);
  assert.match(reply.header('x-request-id') ?? '', /^req_/);
  const body = reply.json();
  const error = body['error'] as Record<string, unknown>;
  assert.equal(typeof error['message'], 'string', reply.text);
  if (dialect === 'anthropic') {
    assert.equal(body['type'], 'error', reply.text);
    assert.equal(body['request_id'], reply.header('x-request-id'));
  } else {
    assert.deepEqual(Object.keys(body), ['error']);
    assert.deepEqual(Object.keys(error).sort(), ['code', 'message', 'param', 'type']);
  }
  return error;
}

const get = (path: string, headers: Record<string, string> = bearer(at.gateway.key), method = 'GET') =>
  at.gateway.send({ method, path, headers });

describe('a model path', () => {
  for (const format of formats) {
    const spellings = [
      bare(format),
      format.path,
      `/v1${format.path}`,
      `/v1/v1${format.path}`,
      `${format.path}/`,
      `/${format.path}`,
      format.path.replaceAll('/', '//'),
      `${format.path}?beta=true&x=%2F`,
      `http://gateway.test${format.path}`,
    ];
    it(`is served however tools write it (${format.name})`, async () => {
      at.upstream.always(json(200, format.answer()));
      for (const path of spellings) {
        const reply = await at.gateway.ask(path, format.request());
        assert.equal(reply.status, 200, `${path}: ${reply.text}`);
        assert.equal(at.upstream.requests.at(-1)?.path, format.path, path);
      }
    });

    it(`is served below the editor alias, whose key counts (${format.name})`, async () => {
      at.upstream.always(json(200, format.answer()));
      const { key } = at.gateway;
      const ask = (path: string, headers = {}) =>
        at.gateway.send({
          path,
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify(format.request()),
        });
      for (const alias of ['editor', 'vscode']) {
        for (const rest of [bare(format), format.path, `${format.path}/`, `/${format.path}?a=b`]) {
          assert.equal((await ask(`/api/v1/${alias}/${key}${rest}`)).status, 200, `${alias} ${rest}`);
        }
      }
      const escaped = [...key].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('');
      assert.equal((await ask(`/api/v1/editor/${escaped}${format.path}`)).status, 200);
      const foreign = { authorization: 'Bearer sk-foreign', 'x-api-key': 'sk-foreign' };
      assert.equal((await ask(`/api/v1/editor/${key}${format.path}`, foreign)).status, 200);
      assert.equal((await ask(`/api/v1/editor/sk-wrong${format.path}`, bearer(key))).status, 401);
    });

    it(`answers another method with 405 and the one it takes (${format.name})`, async () => {
      for (const method of ['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
        const reply = await get(format.path, bearer(at.gateway.key), method);
        assert.equal(reply.status, 405, method);
        const error = errorOf(reply, format === messages ? 'anthropic' : 'openai');
        assert.match(String(error['message']), /POST/);
        assert.equal(reply.header('allow'), 'POST');
      }
      const head = await fetch(`${at.gateway.url}${format.path}`, { method: 'HEAD' });
      assert.equal(head.status, 405);
      assert.equal(await head.text(), '');
    });
  }

  it('lists models under every spelling, with HEAD too', async () => {
    for (const path of ['/models', '/v1/models', '/v1/v1/models', '/v1/models/', '/v1/models?limit=1']) {
      const reply = await get(path);
      assert.equal(reply.status, 200, path);
      assert.equal(reply.json()['object'], 'list');
      const response = await fetch(`${at.gateway.url}${path}`, {
        method: 'HEAD',
        headers: bearer(at.gateway.key),
      });
      assert.equal(response.status, 200);
      assert.equal(await response.text(), '');
    }
    for (const path of ['/v1/models', '/models', '/v1/models/up/m-1', '/v1/models/up%2Fm-1']) {
      assert.equal((await get(path)).status, 200, path);
      const refused = await get(path, bearer(at.gateway.key), 'POST');
      assert.equal(refused.status, 405, path);
      assert.equal(refused.header('allow'), 'GET, HEAD');
      errorOf(refused, 'openai');
    }
    const alias = await get(`/api/v1/editor/${at.gateway.key}/v1/models`, {});
    assert.equal(alias.json()['object'], 'list');
  });

  it('serves the official SDKs whatever base URL they were given', async () => {
    const { key, url } = at.gateway;
    const ask = { max_tokens: 10, messages: [{ role: 'user' as const, content: 'hi' }] };
    at.upstream.always(json(200, chat.answer()));
    for (const [baseURL, apiKey] of [
      [url, key],
      [`${url}/v1`, key],
      [`${url}/v1/v1/`, key],
      [`${url}/api/v1/editor/${key}`, 'unused'],
      [`${url}/api/v1/vscode/${key}/v1`, 'unused'],
    ]) {
      const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
      const answer = await client.chat.completions.create({ ...ask, model: 'up/m-1' });
      assert.equal(answer.choices[0]?.message.content, 'Hello, wörld 🙂');
      assert.ok((await client.models.list()).data.some(({ id }) => id === 'up/m-1'));
    }
    at.upstream.always(json(200, messages.answer()));
    for (const baseURL of [url, `${url}/v1`, `${url}/api/v1/editor/${key}`]) {
      const client = new Anthropic({ baseURL, apiKey: baseURL.includes('editor') ? 'unused' : key });
      const { content } = await client.messages.create({ ...ask, model: 'anth/m-1' });
      assert.equal(content[0]?.type, 'text');
    }
  });
});

describe('a path that is not served', () => {
  const unknown = [
    '/',
    '/v1',
    '/v1/',
    '/v1/nothing',
    '/v1/chat',
    '/v1/chat/completion',
    '/v1/responses/x/y/z',
    '/v2/chat/completions',
    '/api/v1/editor',
    '/apis',
    '/favicon.ico',
    '/v1/../etc/passwd',
    '/%2e%2e/%2e%2e/etc/passwd',
    '/v1/%00',
    '/v1/%ff%zz',
    '/<script>alert(1)</script>',
    '/constructor',
    '/v1/__proto__',
    `/v1/${'x'.repeat(4000)}`,
    '*',
  ];

  it('is a JSON 404 for every method, with a key or without', async () => {
    for (const path of unknown) {
      for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS']) {
        for (const headers of [bearer(at.gateway.key), {}]) {
          const reply = await get(path, headers, method);
          assert.equal(reply.status, 404, `${method} ${path}: ${reply.text}`);
          const error = errorOf(reply, 'openai');
          assert.equal(error['code'], 'not_found');
          assert.ok(reply.text.length < 1000, 'a long path is not repeated whole');
        }
      }
    }
  });

  it('below messages is a 404 as Anthropic writes it', async () => {
    for (const path of ['/v1/messages/nothing', '/messages/nothing/at/all', '/v1/v1/messages/x']) {
      const reply = await get(path, bearer(at.gateway.key), 'POST');
      assert.equal(reply.status, 404);
      assert.equal(errorOf(reply, 'anthropic')['type'], 'not_found_error');
    }
  });

  it('is a 404 as Anthropic writes it for a client that speaks Anthropic', async () => {
    const headers = { ...bearer(at.gateway.key), 'anthropic-version': '2023-06-01' };
    for (const path of ['/v1/models/nowhere/none', '/v1/organizations', '/v1/nothing']) {
      const reply = await get(path, headers);
      assert.equal(reply.status, 404);
      assert.equal(errorOf(reply, 'anthropic')['type'], 'not_found_error');
    }
    const client = new Anthropic({ baseURL: at.gateway.url, apiKey: at.gateway.key, maxRetries: 0 });
    await assert.rejects(client.models.retrieve('nowhere/none'), (error) => {
      assert.ok(error instanceof Anthropic.NotFoundError);
      assert.equal(error.type, 'not_found_error');
      return true;
    });
    // A format's own path decides even so.
    const own = await at.gateway.ask(chat.path, chat.request({ model: 'nowhere/none' }), headers);
    errorOf(own, 'openai');
  });

  it('leaves the connection usable', async () => {
    const client = await at.gateway.client();
    try {
      for (const path of ['/nothing', '/healthz', '/v1/nothing', '/healthz']) {
        await client.send({ method: 'GET', path });
        assert.equal((await client.reply()).status, path === '/healthz' ? 200 : 404);
      }
    } finally {
      client.destroy();
    }
  });
});

describe('a probe', () => {
  it('HEAD /api/hello answers 200 without a key, as Claude Code wants it', async () => {
    for (const method of ['HEAD', 'GET']) {
      const response = await fetch(`${at.gateway.url}/api/hello`, { method });
      assert.equal(response.status, 200);
      assert.equal((await response.text()) === '', method === 'HEAD');
    }
  });

  it('/healthz and /readyz answer without a key', async () => {
    for (const path of ['/healthz', '/readyz']) assert.equal((await get(path, {})).status, 200, path);
  });
});

describe('a WebSocket upgrade', () => {
  const upgrade = async (path: string, more: Record<string, string> = {}) => {
    const client = await at.gateway.client();
    try {
      await client.send({
        method: 'GET',
        path,
        headers: {
          connection: 'Upgrade',
          upgrade: 'websocket',
          'sec-websocket-version': '13',
          'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
          ...more,
        },
      });
      return await client.reply();
    } finally {
      client.destroy();
    }
  };

  it('where none is served is refused with 426, with a key or without', async () => {
    for (const path of ['/v1/chat/completions', '/v1/responses/compact', '/v1/models?limit=1', '/']) {
      for (const headers of [{}, bearer(at.gateway.key)]) {
        const reply = await upgrade(path, headers);
        assert.equal(reply.status, 426);
        assert.equal(reply.header('upgrade'), 'websocket');
        assert.equal(errorOf(reply, 'openai')['code'], 'upgrade_required');
      }
    }
  });

  it('is refused in the dialect of its path', async () => {
    for (const path of ['/v1/messages', '/v1/messages?beta=true']) {
      errorOf(await upgrade(path), 'anthropic');
    }
  });

  it('with frames sent ahead, or by a client that leaves at once, does no harm', async () => {
    const lines = 'host: a\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n';
    const client = await at.gateway.client();
    const keyed = await at.gateway.client();
    const gone = await at.gateway.client();
    try {
      await client.write(`GET /v1/responses HTTP/1.1\r\n${lines}\x81\x05hello`);
      assert.equal((await client.reply()).status, 401);
      const key = `authorization: Bearer ${at.gateway.key}\r\n`;
      await keyed.write(`GET /v1/responses HTTP/1.1\r\n${key}${lines}\x81\x05hello`);
      const reply = await keyed.reply();
      assert.equal(reply.status, 400, 'no proper handshake');
      assert.match(String(errorOf(reply, 'openai')['message']), /handshake/);
      await gone.write(`GET /v1/responses HTTP/1.1\r\n${lines}`);
      gone.socket.resetAndDestroy();
    } finally {
      client.destroy();
      keyed.destroy();
      gone.destroy();
    }
    assert.equal((await get('/healthz')).status, 200);
  });

  it('to another protocol is ignored', async () => {
    at.upstream.always(json(200, chat.answer()));
    const headers = { upgrade: 'h2c', connection: 'Upgrade, HTTP2-Settings', 'http2-settings': 'AAMAAABk' };
    assert.equal((await at.gateway.ask(chat.path, chat.request(), headers)).status, 200);
  });
});

describe('the key in the path of the editor alias', () => {
  it('is in no log, no record, no error, no answer and no upstream request', async () => {
    const { gateway, upstream } = at;
    const canary = 'sk-canary0123456789canary0123456789x';
    const secrets = [gateway.key, canary];
    const body = JSON.stringify(chat.request());
    const type = { 'content-type': 'application/json' };
    const replies: Reply[] = [];
    const send = async (path: string, more: object = {}) => {
      replies.push(await gateway.send({ path, headers: type, body, ...more }));
    };
    upstream.always(json(200, chat.answer()));
    for (const key of secrets) {
      for (const prefix of [
        '/api/v1/editor',
        '/api/v1/vscode',
        '//api//v1//editor/',
        '/API/V1/Editor',
        '/v1/api/v1/editor',
        '/api/editor',
        '/editor',
        '/v1/editor',
        '/api/v1/edit%6Fr',
        '/api/v1/editor%2F',
        '/api/v1',
        '/v1',
      ]) {
        for (const rest of [
          '',
          '/',
          '/models',
          '/models/none',
          '/chat/completions',
          '/messages',
          '/nothing',
          '/messages/nothing',
          '/api/tags',
          '/api/version',
          '/a/b?key=c',
        ]) {
          await send(`${prefix}${prefix.endsWith('%2F') ? '' : '/'}${key}${rest}`);
          await send(`${prefix}${prefix.endsWith('%2F') ? '' : '/'}${key}${rest}`, {
            method: 'GET',
            body: undefined,
          });
        }
      }
      const path = `/api/v1/editor/${key}/chat/completions`;
      await send(path, { body: '{"model":' });
      await send(path, { body: 'x'.repeat(100_001) });
      await send(path, { headers: { ...type, 'x-long': 'x'.repeat(70_000) } });
      await send(path, { headers: { ...type, 'bad header': '1' } });
      await send(path, { headers: { ...type, 'content-encoding': 'gzip' } });
      await send(path, { headers: { ...type, 'content-encoding': 'rot13' } });
      await send(path, {
        headers: { ...type, 'x-gateway-via': upstream.requests.at(-1)?.header('x-gateway-via') ?? '' },
      });
      await send(path, { headers: { ...type, referer: `http://gateway.test${path}` } });
      await send(path, {
        method: 'GET',
        body: undefined,
        headers: {
          connection: 'Upgrade',
          upgrade: 'websocket',
          'sec-websocket-key': 'x',
          'sec-websocket-version': '13',
        },
      });
      await send(`/v1/models?key=${key}`, { method: 'GET', body: undefined });
    }
    upstream.script([json(500, chat.error('no', 'x'))], [json(200, '<html>')], [json(200, '')]);
    for (let count = 0; count < 3; count += 1) await send(`/api/v1/editor/${gateway.key}/chat/completions`);

    const statuses = new Set(replies.map(({ status }) => status));
    for (const status of [200, 400, 401, 404, 405, 413, 415, 426, 431, 500, 502, 508]) {
      assert.ok(statuses.has(status), `the cases lack a ${status}: ${[...statuses].sort()}`);
    }
    const leaks: string[] = [];
    const look = (where: string, text: string) => {
      for (const secret of secrets) if (text.includes(secret)) leaks.push(`${where}: ${text.slice(0, 300)}`);
    };
    for (const reply of replies) {
      look('answer', `${reply.text}\n${JSON.stringify(reply.headers)}`);
    }
    for (const request of upstream.requests) look('upstream', `${request.rawHead}${await request.whole}`);
    assert.ok((await gateway.entries()).length > 10);
    const { stdout } = await gateway.cli('logs', '--json', '--limit', '1000');
    look('gateway logs', stdout);
    const { stdout: out, stderr } = gateway.output();
    look('log', out + stderr);
    for (const file of globSync('**/*', { cwd: gateway.dataDir, withFileTypes: true })) {
      if (!file.isFile()) continue;
      const path = join(file.parentPath, file.name);
      look(path, readFileSync(path, 'latin1'));
    }
    assert.deepEqual(leaks, []);
  });
});
