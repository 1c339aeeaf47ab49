import assert from 'node:assert/strict';
import { once } from 'node:events';
import { constants } from 'node:http2';
import { connect } from 'node:net';
import { after, describe, it } from 'node:test';
import { http2Client } from '../../../test/support/clients/http2-client.ts';
import { waitFor } from '../../../test/support/gateway/gateway.ts';
import { GatewayError } from '../../lib/error.ts';
import type { AnyExchange } from '../exchange.ts';
import { sendJson } from '../send.ts';
import { createHttpServer, type HttpServer, type HttpServerOptions } from '../server/server.ts';
import { type Http2Exchange, plainHeaders } from './exchange.ts';

const limits = { headerBytes: 16_384, headersTimeoutMs: 400, bodyTimeoutMs: 800, bodyBytes: 1_000_000 };
const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
const EMPTY_SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
const servers: HttpServer[] = [];
after(async () => {
  for (const server of servers) await server.close();
});

type Overrides = Partial<Omit<HttpServerOptions, 'onHttp2Request'>> & {
  /** Default: answers with the version. Null: HTTP/2 is not served. */
  onHttp2Request?: HttpServerOptions['onHttp2Request'] | null;
};

const answerVersion = (exchange: AnyExchange & { request: { httpVersion: string } }) =>
  sendJson(exchange, 200, { version: exchange.request.httpVersion });

async function start({ onHttp2Request = answerVersion, ...overrides }: Overrides = {}) {
  const server = createHttpServer({
    limits,
    renderError: (error) => ({ status: error.status, body: { code: error.code } }),
    onRequest: answerVersion,
    onUpgrade: (_request, socket) => socket.destroy(),
    ...overrides,
    ...(onHttp2Request === null ? {} : { onHttp2Request }),
  });
  servers.push(server);
  return { server, port: (await server.listen('127.0.0.1', 0)).port };
}

/** Keeps its exchanges open. */
function holding(): { exchanges: Http2Exchange[]; onHttp2Request(exchange: Http2Exchange): void } {
  const exchanges: Http2Exchange[] = [];
  return { exchanges, onHttp2Request: (exchange) => void exchanges.push(exchange) };
}

async function dial(port: number) {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  let received = Buffer.alloc(0);
  socket.on('data', (piece) => {
    received = Buffer.concat([received, piece]);
  });
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  return { socket, closed, received: () => received };
}

describe('HTTP/2 on the port of HTTP/1.1', () => {
  it('is recognized by its preface, however that is split', async () => {
    const { port } = await start();
    const request = await http2Client(port);
    assert.deepEqual(JSON.parse((await request({ ':path': '/' })).body), { version: '2.0' });
    request.close();
    const { received, socket } = await dial(port);
    for (const byte of Buffer.from(PREFACE)) {
      socket.write(Buffer.from([byte]));
      await new Promise((resolve) => setImmediate(resolve));
    }
    socket.write(EMPTY_SETTINGS);
    await waitFor('the settings of the server', () => received().length >= 9);
    assert.equal(received()[3], 4);
    socket.destroy();
  });

  it('is refused after an HTTP/1.1 request on the same connection, and if it is not served', async () => {
    const { port } = await start();
    const late = await dial(port);
    late.socket.write('GET / HTTP/1.1\r\nHost: here\r\n\r\n');
    await waitFor('an answer', () => late.received().length > 0);
    late.socket.write(PREFACE);
    await late.closed;
    assert.match(late.received().toString(), /^HTTP\/1\.1 200 OK/);
    const refused = await dial((await start({ onHttp2Request: null })).port);
    refused.socket.write(PREFACE);
    await refused.closed;
    assert.match(refused.received().toString(), /^HTTP\/1\.1 400 /);
  });

  it('has the timeouts of HTTP/1.1 for a preface and a body', async () => {
    const held = holding();
    const { port } = await start(held);
    const slow = await dial(port);
    slow.socket.write(PREFACE.slice(0, 10));
    await slow.closed;
    const silent = await dial(port);
    silent.socket.write(PREFACE);
    silent.socket.write(EMPTY_SETTINGS);
    await silent.closed;
    const request = await http2Client(port);
    const { body, headers } = await request({ ':method': 'POST', ':path': '/' }, null);
    assert.deepEqual({ body, headers }, { body: '', headers: {} });
    assert.equal(held.exchanges.length, 1);
    request.close();
  });

  it('finishes open requests during a drain, and accepts no new ones', async () => {
    const held = holding();
    const { port, server } = await start(held);
    const request = await http2Client(port);
    const answered = request({ ':path': '/' });
    await waitFor('the request', () => held.exchanges.length === 1);
    assert.equal(server.inFlight(), 1);
    const drained = server.drain(60_000);
    const [exchange] = held.exchanges;
    assert.ok(exchange !== undefined);
    sendJson(exchange, 200, { last: true });
    assert.equal((await answered).body, '{"last":true}');
    await drained;
    await request.closed;
  });

  it('ends when the server closes', async () => {
    const held = holding();
    const { port, server } = await start(held);
    const request = await http2Client(port);
    const cut = request({ ':path': '/' });
    await waitFor('the request', () => held.exchanges.length === 1);
    await server.close();
    assert.deepEqual((await cut).headers, {});
    await request.closed;
  });

  it('counts as a connection: an idle one is closed for a new one, a busy one is not', async () => {
    const held = holding();
    const { port } = await start({ ...held, connections: { max: 2, isProbe: () => false } });
    const busy = await http2Client(port);
    const answered = busy({ ':path': '/' });
    await waitFor('the request', () => held.exchanges.length === 1);
    const idle = await http2Client(port);
    const third = await http2Client(port);
    await idle.closed;
    const [exchange] = held.exchanges;
    assert.ok(exchange !== undefined);
    sendJson(exchange, 200, { still: 'there' });
    assert.equal((await answered).body, '{"still":"there"}');
    for (const { close } of [busy, third]) close();
  });

  it('answers an error that a handler throws, and resets a response that had begun', async () => {
    const reported: unknown[] = [];
    const { port } = await start({
      onError: (error) => reported.push(error),
      onHttp2Request({ path, response }) {
        if (path === '/refused') throw new GatewayError('not_found', 'nothing here');
        if (path === '/begun') response.writeHead(200, {});
        throw new Error('a fault');
      },
    });
    const request = await http2Client(port);
    assert.equal((await request({ ':path': '/refused' })).headers[':status'], 404);
    assert.equal(reported.length, 0);
    assert.equal((await request({ ':path': '/fault' })).headers[':status'], 500);
    assert.equal((await request({ ':path': '/begun' })).resetCode, constants.NGHTTP2_INTERNAL_ERROR);
    assert.equal(reported.length, 2);
    request.close();
  });

  it('sends the headers that HTTP/1.1 would send', () => {
    const pseudo = [':method', 'GET', ':authority', 'a:1', ':path', '/', 'accept', '*/*'];
    assert.deepEqual(plainHeaders(pseudo), ['host', 'a:1', 'accept', '*/*']);
    assert.deepEqual(plainHeaders([...pseudo, 'host', 'a:1']), ['accept', '*/*', 'host', 'a:1']);
    assert.deepEqual(plainHeaders([...pseudo, 'host', 'b']), ['host', 'a:1', 'accept', '*/*', 'host', 'b']);
    assert.deepEqual(plainHeaders(['host', 'b']), ['host', 'b']);
  });
});
