import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { strangersPlaces } from '../support/clients/hostile.ts';
import { setting } from '../support/gateway/setting.ts';
import { body, json } from '../support/upstream/steps.ts';

const NAME = 'x-content-type-options';

describe('SC-55 every answer has X-Content-Type-Options: nosniff', () => {
  const at = setting({ config: { limits: { headers_timeout_ms: 500 } } });

  const raw = async (text: string) => {
    const client = await at.gateway.client();
    try {
      await client.write(text);
      return await client.reply();
    } finally {
      client.destroy();
    }
  };

  it('without credentials, at every path', async () => {
    for (const [method, path] of [...strangersPlaces, ['TRACE', '/v1/models'], ['PUT', '/']] as const) {
      const reply = await at.gateway.send({
        method,
        path,
        headers: { host: `127.0.0.1:${at.gateway.port}` },
      });
      assert.equal(reply.header(NAME), 'nosniff', `${method} ${path}: ${reply.status}`);
    }
  });

  it('without a valid request', async () => {
    const broken: Record<string, [text: string, status: number]> = {
      'no HTTP': ['nonsense\r\n\r\n', 400],
      'two lengths': ['POST /v1/messages HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n', 400],
      'a long head': [`GET / HTTP/1.1\r\nhost: x\r\nx: ${'x'.repeat(200_000)}\r\n\r\n`, 431],
      'a slow head': ['GET /v1/models HTTP/1.1\r\nhost: x\r\n', 408],
      'an upgrade': [
        'GET /v1/chat/completions HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
        426,
      ],
      'an upgrade without a key': [
        'GET /v1/responses HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
        401,
      ],
    };
    for (const [name, [text, status]] of Object.entries(broken)) {
      const reply = await raw(text);
      assert.equal(reply.status, status, `${name}: ${reply.text}`);
      assert.equal(reply.header(NAME), 'nosniff', name);
    }
  });

  it('with content of an upstream: whole, streamed, refused and as audio', async () => {
    const chat = (more: object) => ({
      model: 'demo/echo',
      messages: [{ role: 'user', content: 'hi' }],
      ...more,
    });
    for (const request of [chat({}), chat({ stream: true }), chat({ model: 'nothing' })])
      assert.equal((await at.gateway.ask('/v1/chat/completions', request)).header(NAME), 'nosniff');
    at.upstream.always(body(200, '<script>', { 'content-type': 'text/html' }));
    const speech = { model: 'up/tts-1', input: 'hi', voice: 'alloy' };
    assert.equal((await at.gateway.ask('/v1/audio/speech', speech)).header(NAME), 'nosniff');
    at.upstream.always(json(400, { error: { message: 'no' } }));
    assert.equal((await at.gateway.ask('/v1/audio/speech', speech)).header(NAME), 'nosniff');
  });
});
