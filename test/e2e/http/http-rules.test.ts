import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { after, describe, it } from 'node:test';
import { deflateRawSync, deflateSync } from 'node:zlib';
import { chat, messages } from '../../support/formats/formats.ts';
import { setting } from '../../support/gateway/setting.ts';
import { json } from '../../support/upstream/steps.ts';

const at = setting();
const closing: (() => void)[] = [];
after(() => {
  for (const close of closing) close();
});

const answer = JSON.stringify(chat.answer());
const ok = (more = '') =>
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(answer)}\r\n${more}\r\n${answer}`;

/** Asks a connection whose server answers with these very bytes. */
async function answeredWith(name: string, bytes: string | Buffer) {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.write(bytes));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => server.close());
  const { port } = server.address() as AddressInfo;
  await at.gateway.connect({ provider: 'openai-compatible', name, baseUrl: `http://127.0.0.1:${port}/v1` });
  return at.gateway.ask(chat.path, chat.request({ model: `${name}/m-1` }));
}

describe('an upstream', () => {
  it('that sends 100 Continue unasked is understood (RFC 9110, 15.2)', async () => {
    const reply = await answeredWith('continues', `HTTP/1.1 100 Continue\r\n\r\n${ok()}`);
    assert.equal(reply.status, 200, reply.text);
    assert.equal(reply.header('x-gateway-attempts'), '1');
  });

  it('that answers with a status outside HTTP is an error of the upstream (RFC 9110, 15)', async () => {
    for (const status of [600, 999]) {
      const head = `HTTP/1.1 ${status} Odd\r\ncontent-type: application/json\r\ncontent-length: 2`;
      const reply = await answeredWith(`odd${status}`, `${head}\r\n\r\n{}`);
      assert.equal(reply.status, 502, reply.text);
      const error = reply.json()['error'] as { code: string; message: string };
      assert.equal(error.code, 'upstream_protocol');
      assert.match(error.message, new RegExp(`status ${status}`));
    }
  });

  it('keeps the headers of its own hop to itself (RFC 9110, 7.6.1)', async () => {
    const reply = await answeredWith('hops', ok('connection: X-Hop, close\r\nx-hop: 1\r\nx-end: 2\r\n'));
    assert.equal(reply.status, 200, reply.text);
    assert.deepEqual([reply.header('x-hop'), reply.header('x-end')], [undefined, '2']);
  });

  it('may send deflate data without the zlib format around it (RFC 9110, 8.4.1.2)', async () => {
    for (const [name, body] of [
      ['bare', deflateRawSync(answer)],
      ['zlib', deflateSync(answer)],
    ] as const) {
      const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: deflate\r\ncontent-length: ${body.length}\r\n\r\n`;
      const reply = await answeredWith(name, Buffer.concat([Buffer.from(head), body]));
      assert.equal(reply.status, 200, reply.text);
    }
  });

  it('cannot impose an absurdly long wait', async () => {
    const month = 31 * 24 * 3600;
    const body = JSON.stringify(chat.error('slow down', 'rate_limit_error'));
    for (const name of ['retry-after-ms', 'retry-after']) {
      const head = `HTTP/1.1 429 Slow\r\ncontent-type: application/json\r\n${name}: 99999999999999\r\n`;
      const reply = await answeredWith(name, `${head}content-length: ${body.length}\r\n\r\n${body}`);
      assert.equal(reply.status, 429, reply.text);
      assert.ok(Number(reply.header('retry-after')) <= month, reply.header('retry-after'));
      assert.equal(reply.header('retry-after-ms'), undefined);
    }
  });

  it('gets no credential and no address of a client, and no feature of another vendor', async () => {
    at.upstream.always(json(200, chat.answer()));
    const secret = {
      'x-auth-token': 'management-token',
      cookie: 'session=1',
      'x-forwarded-user': 'alice',
      'x-client-ip': '10.1.2.3',
      'anthropic-beta': 'b',
      'anthropic-version': '2023-06-01',
    };
    for (const [format, expected] of [
      [chat, []],
      [messages, ['anthropic-beta', 'anthropic-version']],
    ] as const) {
      at.upstream.always(json(200, format.answer()));
      const reply = await at.gateway.ask(format.path, format.request(), secret);
      assert.equal(reply.status, 200, reply.text);
      const names = (await at.upstream.request()).headers.map(([name]) => name.toLowerCase());
      assert.deepEqual(names.filter((name) => name in secret).sort(), expected);
    }
  });
});

describe('a client', () => {
  /** @param host the header lines for the host */
  const ask = async (host: string) => {
    const client = await at.gateway.client();
    const rest = `authorization: Bearer ${at.gateway.key}\r\n\r\n`;
    await client.write(`GET /v1/models HTTP/1.1\r\n${host}${rest}`);
    return client.reply().finally(() => client.destroy());
  };

  it('that names no host, two or an impossible one gets 400 in JSON (RFC 9112, 3.2)', async () => {
    for (const host of [
      '',
      'host: a\r\nhost: b\r\n',
      'host: a\r\nhost: a\r\n',
      'host: a b\r\n',
      'host: a/b\r\n',
    ]) {
      const reply = await ask(host);
      assert.equal(reply.status, 400, `${host} ${reply.text}`);
      const error = reply.json()['error'] as { param: string; message: string };
      assert.equal(error.param, 'host');
    }
    for (const host of ['host: gateway.lan:20128\r\n', 'host: [::1]:80\r\n', 'host:\r\n'])
      assert.equal((await ask(host)).status, 200, host);
  });

  it('may send its body as deflate data with or without the zlib format around it', async () => {
    const body = JSON.stringify(chat.request({ model: 'demo/echo' }));
    for (const encode of [deflateSync, deflateRawSync]) {
      const reply = await at.gateway.ask(chat.path, encode(body), { 'content-encoding': 'deflate' });
      assert.equal(reply.status, 200, reply.text);
    }
  });
});
