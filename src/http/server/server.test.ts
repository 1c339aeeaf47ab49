import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, describe, it } from 'node:test';
import { GatewayError } from '../../lib/error.ts';
import { readBody } from '../body/body.ts';
import { refuseUpgrade, sendJson } from '../send.ts';
import { createHttpServer, type Exchange, type HttpServer, type HttpServerOptions } from './server.ts';

const limits = { headerBytes: 16_384, headersTimeoutMs: 400, bodyTimeoutMs: 800, bodyBytes: 1_000_000 };
const cleanups: (() => Promise<void>)[] = [];
after(async () => {
  for (const cleanup of cleanups) await cleanup();
});

const renderError = (error: GatewayError, path: string, id: string) => ({
  status: error.status,
  body: { code: error.code, message: error.message, path, id },
});

async function start(
  overrides: Partial<HttpServerOptions> = {},
): Promise<{ server: HttpServer; port: number }> {
  const server = createHttpServer({
    limits,
    renderError,
    onRequest: (exchange) => sendJson(exchange, 200, { ok: true }),
    onUpgrade: (_request, socket) => refuseUpgrade(socket, 426, { error: 'no upgrade here' }),
    ...overrides,
  });
  const { port } = await server.listen('127.0.0.1', 0);
  cleanups.push(() => server.close());
  return { server, port };
}

async function dial(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

/** Everything that the socket receives until it is closed. */
function untilClosed(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(text));
  });
}

/** Resolves with all text received so far as soon as `pattern` is in it. */
function untilSeen(socket: Socket, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const onData = (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (!pattern.test(text)) return;
      socket.off('data', onData);
      resolve(text);
    };
    socket.on('data', onData);
    socket.once('close', () => reject(new Error(`closed before ${pattern}: ${text}`)));
  });
}

async function exchangeText(port: number, text: string): Promise<string> {
  const socket = await dial(port);
  const received = untilClosed(socket);
  socket.write(text);
  return received;
}

describe('a request', () => {
  it('has its path, its query and an id that the response repeats', async () => {
    const seen: Exchange[] = [];
    const { port } = await start({
      now: () => 1_700_000_000_000,
      onRequest: (exchange) => {
        seen.push(exchange);
        sendJson(exchange, 200, {});
      },
    });
    const response = await fetch(`http://127.0.0.1:${port}/a/b?c=d?e`);
    assert.equal(seen[0]?.path, '/a/b');
    assert.equal(seen[0]?.query, 'c=d?e');
    assert.equal(seen[0]?.startedAt, 1_700_000_000_000);
    assert.match(seen[0]?.id ?? '', /^req_/);
    assert.equal(response.headers.get('x-request-id'), seen[0]?.id);
    assert.equal(response.headers.get('cache-control'), 'no-store');
    assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8');
  });

  it('has its path read from a target in absolute form', async () => {
    const { port } = await start({
      onRequest: (exchange) => sendJson(exchange, 200, { path: exchange.path }),
    });
    const answer = await exchangeText(
      port,
      'GET http://example.test?x=1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    );
    assert.match(answer, /\{"path":"\/"\}/);
  });

  it('gets the headers of GET and no body if it is a HEAD', async () => {
    const { port } = await start();
    const answer = await exchangeText(port, 'HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    assert.match(answer, /content-length: 11/i);
    assert.ok(answer.endsWith('\r\n\r\n'));
  });

  it('gets its response in order if it was pipelined', async () => {
    const { port, server } = await start({
      onRequest: (exchange) => {
        const { path } = exchange;
        if (path === '/slow') setTimeout(() => sendJson(exchange, 200, { path }), 50);
        else sendJson(exchange, 200, { path });
      },
    });
    const answer = await exchangeText(
      port,
      'GET /slow HTTP/1.1\r\nHost: a\r\n\r\nGET /fast HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    );
    assert.ok(answer.indexOf('/slow') > 0 && answer.indexOf('/slow') < answer.indexOf('/fast'));
    assert.equal(server.inFlight(), 0);
  });

  it('is served if few pipelined requests wait before it, and ends its connection if many do', async () => {
    const served: string[] = [];
    const held: (() => void)[] = [];
    const { port, server } = await start({
      onRequest: (exchange) => {
        served.push(exchange.path);
        held.push(() => sendJson(exchange, 200, { path: exchange.path }));
      },
    });
    const line = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
    const socket = await dial(port);
    const closed = once(socket, 'close');
    socket.resume();
    socket.write(Array.from({ length: 1_000 }, (_, index) => line(`/${index}`)).join(''));
    await closed;
    assert.ok(served.length < 10, `${served.length} were served`);
    await server.drain(5000);
    assert.equal(server.inFlight(), 0);
    for (const answer of held) answer();
  });

  it('is closed with its connection while it waits behind a pipelined request', async () => {
    const closed: string[] = [];
    let both = () => {};
    const arrived = new Promise<void>((resolve) => {
      both = resolve;
    });
    const { port, server } = await start({
      onRequest: ({ response, path }) => {
        response.on('close', () => closed.push(path));
        if (path === '/2') both();
      },
    });
    const socket = await dial(port);
    socket.write('GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n');
    await arrived;
    assert.equal(server.inFlight(), 2);
    socket.destroy();
    await server.drain(5000);
    assert.deepEqual(closed.sort(), ['/1', '/2']);
    assert.equal(server.inFlight(), 0);
  });
});

describe('a request whose handler fails', () => {
  it('gets one rendered 500 without the cause in it, and the cause is reported', async () => {
    const errors: unknown[] = [];
    const { port } = await start({
      onError: (error) => errors.push(error),
      onRequest: async () => {
        throw new Error('secret cause');
      },
    });
    const response = await fetch(`http://127.0.0.1:${port}/x`);
    const text = await response.text();
    assert.equal(response.status, 500);
    assert.match(text, /internal_error/);
    assert.doesNotMatch(text, /secret cause/);
    assert.ok(text.includes(response.headers.get('x-request-id') ?? 'none'));
    assert.equal((errors[0] as Error).message, 'secret cause');
  });

  it('gets the GatewayError rendered that the handler threw', async () => {
    const { port } = await start({
      onRequest: () => {
        throw new GatewayError('not_found', 'nothing here');
      },
    });
    const response = await fetch(`http://127.0.0.1:${port}/x`);
    assert.equal(response.status, 404);
    assert.match(await response.text(), /nothing here/);
  });

  it('has its connection closed if the response has begun', async () => {
    const errors: unknown[] = [];
    const { port } = await start({
      onError: (error) => errors.push(error),
      onRequest: ({ response }) => {
        response.writeHead(200, { 'content-length': 100 });
        response.write('begun');
        return Promise.reject(new Error('too late'));
      },
    });
    await assert.rejects(fetch(`http://127.0.0.1:${port}/x`).then((response) => response.text()));
    assert.equal(errors.length, 1);
  });
});

describe('a connection', () => {
  it('gets a 408 and is closed if it sends its headers too slowly', async () => {
    const { port } = await start();
    const answer = await exchangeText(port, 'GET /slow HTTP/1.1\r\nHost: a\r\nX-A:');
    assert.match(answer, /^HTTP\/1\.1 408 /);
    assert.match(answer, /request_timeout/);
    assert.match(answer, /x-request-id: req_/);
  });

  it('is closed without a response if it sends nothing', async () => {
    const { port } = await start();
    assert.equal(await untilClosed(await dial(port)), '');
  });

  it('gets a 408 and is closed if it sends its body too slowly, and the reader of the body learns why', async () => {
    const outcome = Promise.withResolvers<unknown>();
    const { port } = await start({
      onRequest: ({ request }) => readBody(request, { limitBytes: 100 }).catch(outcome.resolve),
    });
    const answer = await exchangeText(port, 'POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n123');
    assert.match(answer, /^HTTP\/1\.1 408 /);
    assert.match(answer, /"path":"\/p"/);
    assert.equal(((await outcome.promise) as GatewayError).code, 'request_timeout');
  });

  it('gets a 431 if it sends too many header bytes', async () => {
    const { port } = await start();
    const answer = await exchangeText(
      port,
      `GET / HTTP/1.1\r\nHost: a\r\nX-A: ${'a'.repeat(70_000)}\r\n\r\n`,
    );
    assert.match(answer, /^HTTP\/1\.1 431 /);
    assert.match(answer, /headers_too_large/);
  });

  it('gets a 400 if it frames a body in two ways', async () => {
    const { port } = await start();
    const answer = await exchangeText(
      port,
      'POST /v1/x?key=1 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    );
    assert.match(answer, /^HTTP\/1\.1 400 /);
    assert.match(answer, /"path":"\/v1\/x"/);
  });

  it('gets a 400 if it does not speak HTTP', async () => {
    const { port } = await start();
    assert.match(
      await exchangeText(port, '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'),
      /^HTTP\/1\.1 400 /,
    );
  });

  it('gets a 100 Continue if it asks for one before it sends its body', async () => {
    const { port } = await start({
      onRequest: async (exchange) => {
        const pieces = await readBody(exchange.request, { limitBytes: 100 });
        sendJson(exchange, 200, { got: Buffer.concat(pieces).toString() });
      },
    });
    const socket = await dial(port);
    socket.write(
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n',
    );
    await untilSeen(socket, /^HTTP\/1\.1 100 Continue\r\n\r\n/);
    const answer = untilClosed(socket);
    socket.write('abc');
    assert.match(await answer, /\{"got":"abc"\}/);
  });

  it('gets a 100 Continue behind the response to an earlier request, before its own response', async () => {
    const { port } = await start({
      onRequest: async (exchange) => {
        const pieces = await readBody(exchange.request, { limitBytes: 100 });
        const got = Buffer.concat(pieces).toString();
        if (got === '') setTimeout(() => sendJson(exchange, 200, { got }), 50);
        else sendJson(exchange, 200, { got });
      },
    });
    const asking = (body: string) =>
      `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n${body}`;
    const first = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
    const socket = await dial(port);
    const answer = untilClosed(socket);
    socket.write(first + asking(''));
    await untilSeen(socket, /"got":""}HTTP\/1\.1 100 Continue\r\n\r\n$/);
    socket.write('abc');
    assert.match(await answer, /100 Continue\r\n\r\nHTTP\/1\.1 200 [^{]*{"got":"abc"}$/);
    // One whose body came without waiting was answered before that answer's turn.
    const other = await exchangeText(port, first + asking('abc'));
    assert.match(other, /"got":""}HTTP\/1\.1 200 [^{]*{"got":"abc"}$/);
    assert.doesNotMatch(other, /100 Continue/);
  });

  it('is refused before it sends a body that is too large, which is not read', async () => {
    const { port } = await start({
      onRequest: ({ request }) => readBody(request, { limitBytes: 1_000_000 }),
    });
    const socket = await dial(port);
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000001\r\nExpect: 100-continue\r\n\r\n');
    const answer = await untilSeen(socket, /request_too_large/);
    assert.match(answer, /^HTTP\/1\.1 413 /);
    socket.destroy();
  });

  it('gets its WebSocket request refused by the handler of upgrades', async () => {
    const { port } = await start();
    const answer = await exchangeText(
      port,
      'GET /v1/responses HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    );
    assert.match(answer, /^HTTP\/1\.1 426 Upgrade Required\r\n/);
    assert.match(answer, /connection: close/);
    assert.match(answer, /\{"error":"no upgrade here"\}$/);
  });

  it('gets an ordinary response to an ordinary request that offers HTTP/2', async () => {
    const { port } = await start();
    const socket = await dial(port);
    socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\r\n');
    assert.match(await untilSeen(socket, /\{"ok":true\}/), /^HTTP\/1\.1 200 /);
    socket.destroy();
  });
});

describe('draining', () => {
  it('waits for an open stream, refuses new connections and resolves all its calls at once', async () => {
    const opened = Promise.withResolvers<Exchange>();
    const { port, server } = await start({
      onRequest: (exchange) => {
        exchange.response.writeHead(200);
        exchange.response.write('a');
        opened.resolve(exchange);
      },
    });
    const idle = await dial(port);
    idle.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    const { response } = await opened.promise;
    let drained = false;
    const first = server.drain(10_000).then(() => {
      drained = true;
    });
    const second = server.drain(1);
    await assert.rejects(fetch(`http://127.0.0.1:${port}/`));
    assert.equal(drained, false);
    assert.equal(server.inFlight(), 1);
    const end = untilClosed(idle);
    response.end('b');
    await Promise.all([first, second]);
    assert.equal(server.inFlight(), 0);
    assert.match(await end, /a\r\n.*b\r\n/s);
  });

  it('closes a kept connection after the response that it waits for', async () => {
    const arrived = Promise.withResolvers<Exchange>();
    const { port, server } = await start({ onRequest: (exchange) => arrived.resolve(exchange) });
    const socket = await dial(port);
    const received = untilClosed(socket);
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    const exchange = await arrived.promise;
    const drained = server.drain(10_000);
    sendJson(exchange, 200, { late: true });
    assert.match(await received, /connection: close[\s\S]*\{"late":true\}/i);
    await drained;
  });

  it('stops after its timeout and lists what is still open', async () => {
    const arrived = Promise.withResolvers<Exchange>();
    const { port, server } = await start({ onRequest: (exchange) => arrived.resolve(exchange) });
    const socket = await dial(port);
    const closed = untilClosed(socket);
    socket.write('GET /stuck HTTP/1.1\r\nHost: a\r\n\r\n');
    await arrived.promise;
    await server.drain(20);
    assert.deepEqual(
      [...server.openExchanges()].map(({ path }) => path),
      ['/stuck'],
    );
    await server.close();
    await closed;
    assert.equal(server.inFlight(), 0);
  });
});

describe('listening', () => {
  it('fails with the code of the operating system if the port is taken', async () => {
    const { port } = await start();
    const second = createHttpServer({ limits, renderError, onRequest: () => {}, onUpgrade: () => {} });
    await assert.rejects(second.listen('127.0.0.1', port), { code: 'EADDRINUSE' });
  });
});
