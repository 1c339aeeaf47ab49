import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { bearer, type RunningGateway, startGateway } from '../support/gateway/gateway.ts';

/** What a page can send that has its own name resolved to this machine: requests of its own origin. */
const requests: readonly (readonly [method: string, path: string, headers: Record<string, string>])[] = [
  ['GET', '/v1/models', {}],
  ['GET', '/v1/models', { 'anthropic-version': '2023-06-01' }],
  ['GET', '/models/demo/echo', {}],
  ['GET', '/v1beta/models', {}],
  ['GET', '/v1/responses/resp_1', {}],
  ['GET', '/api/v1/editor/sk-none/api/tags', {}],
  ['POST', '/v1/chat/completions', {}],
  ['POST', '/v1/messages', {}],
  ['POST', '/v1/messages/count_tokens', {}],
  ['POST', '/v1/responses', {}],
  ['POST', '/v1/audio/transcriptions', {}],
  ['POST', '/v1beta/models/demo/echo:generateContent', {}],
  ['POST', '/api/v1/vscode/sk-none/api/chat', {}],
  [
    'GET',
    '/v1/responses',
    {
      connection: 'upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    },
  ],
];

describe('a gateway without keys under a foreign host name', () => {
  let gateway: RunningGateway;
  before(async () => {
    gateway = await startGateway({ config: { auth: { required: false }, allowed_hosts: ['gateway.lan'] } });
  });
  after(() => gateway.stop());

  const send = (index: number, host: string, more: Record<string, string> = {}) => {
    const [method, path, headers] = requests[index] ?? ['GET', '/', {}];
    return gateway.send({ method, path, headers: { host, ...headers, ...more } });
  };

  it('answers no model endpoint', async () => {
    for (const [index, [method, path]] of requests.entries())
      for (const host of [
        'rebound.example',
        `x127.0.0.1:${gateway.port}`,
        '127.0.0.1.rebound.example',
        'localhost.',
      ]) {
        const reply = await send(index, host);
        assert.equal(reply.status, 403, `${method} ${path} for ${host}: ${reply.text}`);
        assert.match(reply.text, /allowed_hosts/);
      }
  });

  it('says so in the dialect of the client', async () => {
    const errorOf = async (index: number) => (await send(index, 'rebound.example')).json()['error'];
    assert.equal(Object(await errorOf(0))['code'], 'permission_denied');
    assert.equal(Object(await errorOf(1))['type'], 'permission_error');
    assert.equal(Object(await errorOf(3))['status'], 'PERMISSION_DENIED');
    assert.equal(typeof (await errorOf(5)), 'string');
  });

  it('answers under its own names, and under any name with a key', async () => {
    for (const host of [`127.0.0.1:${gateway.port}`, `localhost:${gateway.port}`, 'gateway.lan'])
      assert.equal((await send(0, host)).status, 200, host);
    assert.equal((await send(0, 'rebound.example', bearer(gateway.key))).status, 200);
    assert.equal((await send(0, 'rebound.example', bearer('sk-unknown'))).status, 403);
  });
});
