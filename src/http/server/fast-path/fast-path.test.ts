import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { dialServer } from '../../../../test/support/clients/raw-client.ts';
import { temporaryFolder } from '../../../../test/support/machine/folder.ts';
import { GatewayError } from '../../../lib/error.ts';
import { readBody } from '../../body/body.ts';
import { refuseUpgrade, sendJson } from '../../send.ts';
import { createHttpServer, type HttpExchange, type HttpServer, type HttpServerOptions } from '../server.ts';
import { createFastPath } from './fast-path.ts';
import { SimpleResponse } from './response.ts';

const limits = { headerBytes: 16_384, headersTimeoutMs: 30_000, bodyTimeoutMs: 30_000, bodyBytes: 100_000 };
const cleanups: (() => unknown)[] = [];
after(async () => {
  for (const cleanup of cleanups) await cleanup();
});

type Handler = (exchange: HttpExchange) => unknown;
type Overrides = Partial<Omit<HttpServerOptions, 'onRequest' | 'fastPath'>> & { onRequest?: Handler };

interface Client {
  socket: Socket;
  /** All that has come. */
  text(): string;
  /** Resolves with all that has come once it matches, or has a text so often. */
  until(pattern: RegExp | string, times?: number): Promise<string>;
  /** Resolves with all that has come once the connection is closed. */
  closed: Promise<string>;
}

async function dial(to: NetConnectOpts): Promise<Client> {
  const socket = connect({ ...to, allowHalfOpen: true });
  cleanups.push(() => socket.destroy());
  let text = '';
  let arrived = () => {};
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1');
    arrived();
  });
  socket.on('error', () => {});
  socket.on('end', () => socket.end());
  const closed = new Promise<string>((resolve) => {
    socket.on('close', () => {
      arrived();
      resolve(text);
    });
  });
  await once(socket, 'connect');
  return {
    socket,
    text: () => text,
    closed,
    async until(pattern, times = 1) {
      while (typeof pattern === 'string' ? text.split(pattern).length <= times : !pattern.test(text)) {
        assert.ok(!socket.closed, `closed before ${pattern}: ${text}`);
        await new Promise<void>((resolve) => {
          arrived = resolve;
        });
      }
      return text;
    },
  };
}

const post = (body: string, { length = body.length, path = '/v1/x' } = {}) =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n${body}`;

async function echo(exchange: HttpExchange): Promise<void> {
  const pieces = await readBody(exchange.request, { limitBytes: limits.bodyBytes });
  sendJson(exchange, 200, { got: Buffer.concat(pieces).toString() });
}

for (const by of ['the fast path', "Node's server"]) {
  const isFast = by === 'the fast path';
  /** Counts what was served otherwise. */
  const create = ({ onRequest = echo, ...overrides }: Overrides = {}): HttpServer => {
    const check: Handler = (exchange) => {
      assert.equal(exchange.response instanceof SimpleResponse, true);
      return onRequest(exchange);
    };
    const server = createHttpServer({
      limits,
      renderError: ({ code, status }, path) => ({ status, body: { code, path } }),
      onUpgrade: (_request, socket) => refuseUpgrade(socket, 426, { error: 'no upgrade here' }),
      onRequest,
      ...(isFast ? { fastPath: { takes: (path: string) => path.startsWith('/v1/'), onRequest: check } } : {}),
      ...overrides,
    });
    cleanups.push(() => server.close());
    return server;
  };
  const start = async (overrides?: Overrides) => {
    const server = create(overrides);
    const { port } = await server.listen('127.0.0.1', 0);
    return { server, port, dial: () => dial({ port, host: '127.0.0.1' }) };
  };

  describe(`a simple request to ${by}`, { timeout: 60_000 }, () => {
    it('is answered, and its connection is kept open', async () => {
      const { dial } = await start();
      const { socket, until } = await dial();
      socket.write(post('one'));
      const text = await until(/"one"}/);
      assert.match(text, /\r\nConnection: keep-alive\r\nKeep-Alive: timeout=65\r\n/);
      assert.match(text, /\r\nx-content-type-options: nosniff\r\nDate: [\w, :]{25} GMT\r\n/);
      socket.write(post('two'));
      await until(/"two"}/);
    });

    it('may arrive together with others, which are answered in order', async () => {
      const { dial, server } = await start({
        onRequest: async (exchange) => {
          if (exchange.query === 'slow') for (let count = 0; count < 10; count += 1) await turn();
          await echo(exchange);
        },
      });
      const { socket, until } = await dial();
      socket.write(post('one', { path: '/v1/x?slow' }) + post('two') + post('three', { path: '/other' }));
      assert.match(await until(/"three"}/), /"one"}[\s\S]*"two"}[\s\S]*"three"}/);
      assert.equal(server.inFlight(), 0);
    });

    it('may send its body byte by byte, up to a number of pieces', async () => {
      const { dial } = await start();
      const { closed, socket, until } = await dial();
      socket.setNoDelay(true);
      const send = async (text: string) => {
        for (const byte of text) {
          socket.write(byte);
          await turn();
        }
      };
      socket.write(post('', { length: 26 }));
      await send('abcdefghijklmnopqrstuvwxyz');
      await until(/"abcdefghijklmnopqrstuvwxyz"}/);
      socket.write(post('', { length: 5000 }));
      await send('x'.repeat(5000));
      assert.doesNotMatch(await closed, /xxx/);
    });

    it('may have no body', async () => {
      let pieces: Buffer[] | null = null;
      const { dial } = await start({
        onRequest: async (exchange) => {
          pieces = await readBody(exchange.request, { limitBytes: 5 });
          sendJson(exchange, 200, {});
        },
      });
      const { socket, until } = await dial();
      socket.write(post(''));
      await until(/{}/);
      assert.deepEqual(pieces, []);
    });

    it('may be refused before its body arrives, and its connection stays usable', async () => {
      const { dial } = await start({
        onRequest: (exchange) => {
          if (exchange.query === 'no') throw new GatewayError('invalid_api_key', 'who?');
          return echo(exchange);
        },
      });
      const { socket, until } = await dial();
      socket.write(post('12345', { length: 100_000, path: '/v1/x?no' }));
      await until(/^HTTP\/1\.1 401 [\s\S]*invalid_api_key/);
      socket.write('x'.repeat(50_000));
      await turn();
      socket.write(`${'x'.repeat(49_995)}${post('next')}`);
      await until(/"next"}/);
      socket.write(post('y'.repeat(100_001)));
      await until(/HTTP\/1\.1 413 [\s\S]*request_too_large/);
      socket.write(post('last'));
      await until(/"last"}/);
    });

    it('gets a 500 if its handler fails, or a truncated response if that had begun', async () => {
      const errors: unknown[] = [];
      const { dial } = await start({
        onError: (error) => errors.push(error),
        onRequest: async ({ query, request, response }) => {
          await readBody(request, { limitBytes: 5 });
          if (query === 'late') {
            response.writeHead(200, { 'content-length': 10 });
            response.write('begun');
          }
          throw new Error('not told');
        },
      });
      const { closed, socket, until } = await dial();
      socket.write(post('a'));
      assert.doesNotMatch(await until(/^HTTP\/1\.1 500 [\s\S]*internal_error/), /not told/);
      socket.write(post('a', { path: '/v1/x?late' }));
      const reset = once(socket, 'error');
      assert.match(await closed, /begun$/);
      assert.equal((await reset)[0].code, 'ECONNRESET');
      assert.equal(errors.length, 2);
    });

    it('gets a 500 if a header of its response is invalid', async () => {
      const { dial } = await start({
        onRequest: ({ response }) => response.writeHead(500, ['x-ok', 'a', 'x-bad', 'a\nb']),
      });
      const { socket, until } = await dial();
      for (let count = 1; count <= 2; count += 1) {
        socket.write(post('a'));
        const text = await until('internal_error', count);
        assert.equal(text.split('HTTP/1.1 500 Internal Server Error\r\n').length - 1, count);
      }
    });

    it('gets a 408 if its body takes too long, and the reader of the body learns why', async () => {
      const outcome = Promise.withResolvers<GatewayError>();
      const { dial } = await start({
        limits: { ...limits, headersTimeoutMs: 200, bodyTimeoutMs: 200 },
        onRequest: ({ request }) => readBody(request, { limitBytes: 100 }).catch(outcome.resolve),
      });
      const { closed, socket } = await dial();
      socket.write(post('123', { length: 10 }));
      assert.match(await closed, /^HTTP\/1\.1 408 [\s\S]*connection: close[\s\S]*"path":"\/v1\/x"/);
      assert.equal((await outcome.promise).code, 'request_timeout');
    });

    it('gets a 408 if its body takes too long after it was answered', async () => {
      const { dial } = await start({
        limits: { ...limits, headersTimeoutMs: 200, bodyTimeoutMs: 200 },
        onRequest: (exchange) => sendJson(exchange, 200, { early: true }),
      });
      const { closed, socket } = await dial();
      socket.write(post('123', { length: 10 }));
      assert.match(await closed, /^HTTP\/1\.1 200 [\s\S]*"early":true}HTTP\/1\.1 408 /);
    });

    it('has as much time to arrive as a head', async () => {
      const { dial } = await start({ limits: { ...limits, headersTimeoutMs: 100, bodyTimeoutMs: 200 } });
      const { closed } = await dial();
      assert.equal(await closed, '');
    });

    it('fails with its body and its response if its client leaves', async () => {
      const outcomes: unknown[] = [];
      const closed: string[] = [];
      const arrived: Record<string, () => void> = {};
      const { dial, server } = await start({
        async onRequest({ query, request, response }) {
          response.on('close', () => closed.push(query));
          arrived[query]?.();
          if (query === 'unread') await new Promise<void>((resolve) => void response.on('close', resolve));
          await readBody(request, { limitBytes: 100 }).catch((error) => outcomes.push([query, error.code]));
        },
      });
      for (const [query, text] of [
        ['in its body', post('123', { length: 10, path: '/v1/x?in-its-body' })],
        ['unread', post('123', { path: '/v1/x?unread' })],
        ['waiting', post('123', { path: '/v1/x?waiting' })],
      ] as const) {
        const name = query.replaceAll(' ', '-');
        const { socket } = await dial();
        const isThere = new Promise<void>((resolve) => {
          arrived[name] = resolve;
        });
        socket.write(text);
        await isThere;
        assert.equal(server.inFlight(), 1);
        if (query === 'waiting') for (let count = 0; count < 5; count += 1) await turn();
        socket.resetAndDestroy();
        while (!closed.includes(name)) await turn();
        assert.equal(server.inFlight(), 0);
      }
      for (let count = 0; count < 5; count += 1) await turn();
      assert.deepEqual(outcomes, [
        ['in-its-body', 'client_closed'],
        ['unread', 'client_closed'],
      ]);
    });

    it('is closed if its client ends the connection before or after the end of the body', async () => {
      const held: HttpExchange[] = [];
      const { dial, server } = await start({ onRequest: (exchange) => held.push(exchange) });
      for (const [index, text] of [post('123', { length: 10 }), post('123'), ''].entries()) {
        const { closed, socket } = await dial();
        socket.end(text);
        assert.equal(await closed, '');
        while (server.inFlight() > 0) await turn();
        assert.equal(held.length, Math.min(index + 1, 2));
      }
      for (const { response } of held) {
        response.writeHead(200, {});
        response.write('a');
        response.end();
        assert.deepEqual([response.destroyed, response.writableFinished], [true, false]);
      }
    });

    it('stops writing its response while the client does not read, and continues when it does', async () => {
      const begun = Promise.withResolvers<HttpExchange>();
      const { dial } = await start({ onRequest: begun.resolve });
      const { closed, socket } = await dial();
      socket.pause();
      socket.write(post('a'));
      const { response } = await begun.promise;
      response.writeHead(200, ['content-length', '6400000']);
      let written = 0;
      while (!response.writableNeedDrain) {
        response.write(Buffer.alloc(64_000, 'a'));
        written += 64_000;
        await turn();
      }
      const drained = new Promise<void>((resolve) => void response.on('drain', resolve));
      socket.resume();
      await drained;
      assert.equal(response.writableNeedDrain, false);
      response.end(Buffer.alloc(6_400_000 - written, 'b'));
      while (!response.writableFinished) await turn();
      socket.end();
      assert.match(await closed, /ab+$/);
    });

    it('may be followed by any other request on its connection', async () => {
      const { dial } = await start();
      const { closed, socket, until } = await dial();
      socket.write(post('one'));
      await until(/"one"}/);
      socket.write('POST /v1/x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n');
      await until(/HTTP\/1\.1 100 Continue\r\n\r\n/);
      socket.write('two');
      await until(/"two"}/);
      socket.write(
        'POST /v1/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nthree\r\n0\r\n\r\n',
      );
      await until(/"three"}/);
      socket.write('GET /v1/ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
      assert.match(await closed, /HTTP\/1\.1 426 [\s\S]*"no upgrade here"}$/);
    });

    it('may be followed by an upgrade, which gets all bytes that arrived after it', async () => {
      let behind = '';
      const { dial } = await start({
        onUpgrade(_request, socket, head) {
          behind += head.toString();
          socket.on('data', (bytes: Buffer) => {
            behind += bytes.toString();
            if (behind.length === 200_000) socket.end('all');
          });
          if (behind.length === 200_000) socket.end('all');
        },
      });
      const { closed, socket } = await dial();
      const upgrade = 'GET /v1/ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
      socket.write(post('one') + upgrade + 'b'.repeat(200_000));
      // Node's server takes the connection away from an answer that it still waits for.
      assert.match(await closed, isFast ? /"one"}all$/ : /all$/);
      assert.equal(behind, 'b'.repeat(200_000));
    });

    it('may be HTTP/2 if it is the first on its connection', async () => {
      const taken: string[] = [];
      const { dial } = await start({
        onHttp2Connection(socket, behind) {
          taken.push(behind.toString());
          socket.destroy();
        },
      });
      for (const pieces of [
        ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nmore'],
        ['PRI * HT', 'TP/2.0\r\n\r\nSM\r\n\r\nmore'],
      ]) {
        const { closed, socket } = await dial();
        socket.setNoDelay(true);
        for (const piece of pieces) {
          socket.write(piece);
          await turn();
        }
        await closed;
      }
      assert.deepEqual(taken, ['more', 'more']);
      const { closed, socket, until } = await dial();
      socket.write(post('one'));
      await until(/"one"}/);
      socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
      assert.match(await closed, /"one"}HTTP\/1\.1 400 /);
      assert.equal(taken.length, 2);
    });

    it('has the client address that a PROXY header names', async (test) => {
      const seen: unknown[] = [];
      const server = create({
        onRequest: (exchange) => {
          seen.push([exchange.request.socket.remoteAddress, exchange.request.socket.remotePort]);
          return echo(exchange);
        },
      });
      const path = join(temporaryFolder(test), 'owner.sock');
      await server.listenForProxies(path);
      const header = 'PROXY TCP4 192.0.2.1 192.0.2.2 1234 80\r\n';
      for (const pieces of [
        [header, post('one')],
        [header + post('one')],
        [header + post('one') + post('two')],
      ]) {
        const { socket, until } = await dial({ path });
        for (const piece of pieces) {
          socket.write(piece);
          await turn();
        }
        await until(pieces.join('').includes('two') ? /"two"}/ : /"one"}/);
      }
      assert.deepEqual(seen, Array(4).fill(['192.0.2.1', 1234]));
      await server.close();
    });

    it('is answered during a drain, on new and on used connections, which then close', async () => {
      const held: HttpExchange[] = [];
      const { dial, server } = await start({
        onRequest: (exchange) => (exchange.query === 'hold' ? held.push(exchange) : echo(exchange)),
      });
      const [idle, waiting, streaming, fresh] = [await dial(), await dial(), await dial(), await dial()];
      idle.socket.write(post('idle'));
      await idle.until(/"idle"}/);
      for (const client of [waiting, streaming]) client.socket.write(post('', { path: '/v1/x?hold' }));
      while (held.length < 2) await turn();
      held[1]?.response.writeHead(200, {});
      held[1]?.response.write('a');
      await streaming.until(/chunked\r\n\r\n1\r\na\r\n/);
      const drained = server.drain(30_000);
      assert.match(await idle.closed, /"idle"}$/);
      fresh.socket.write(post('fresh'));
      assert.match(await fresh.closed, /\r\nConnection: close\r\n[\s\S]*"fresh"}$/);
      if (held[0] !== undefined) sendJson(held[0], 200, { waited: true });
      assert.match(await waiting.closed, /connection: close\r\n[\s\S]*"waited":true}$/i);
      held[1]?.response.end();
      assert.match(await streaming.closed, /a\r\n0\r\n\r\n$/);
      await drained;
      assert.equal(server.inFlight(), 0);
    });

    it('ends when the server closes, with a reset if its response has begun', async () => {
      const held: HttpExchange[] = [];
      const { dial, server } = await start({ onRequest: (exchange) => held.push(exchange) });
      const [silent, waiting, streaming] = [await dial(), await dial(), await dial()];
      for (const client of [waiting, streaming]) client.socket.write(post('a'));
      while (held.length < 2) await turn();
      held[1]?.response.writeHead(200, {});
      held[1]?.response.write('a');
      await streaming.until(/1\r\na\r\n/);
      const reset = once(streaming.socket, 'error');
      await server.close();
      assert.equal((await reset)[0].code, 'ECONNRESET');
      await Promise.all([silent.closed, waiting.closed, streaming.closed]);
      assert.equal(server.inFlight(), 0);
    });

    it('makes room for a new connection when it is done, and is refused if the others are busy', async () => {
      const held: HttpExchange[] = [];
      const { dial } = await start({
        connections: { max: 2, isProbe: () => false },
        onRequest: (exchange) => (exchange.query === 'hold' ? held.push(exchange) : echo(exchange)),
      });
      const idle = await dial();
      idle.socket.write(post('idle'));
      await idle.until(/"idle"}/);
      const silent = await dial();
      const first = await dial();
      assert.match(await idle.closed, /"idle"}$/);
      first.socket.write(post('', { path: '/v1/x?hold' }));
      while (held.length < 1) await turn();
      const second = await dial();
      assert.match(await silent.closed, /^HTTP\/1\.1 503 [\s\S]*too_many_connections/);
      second.socket.write(post('', { path: '/v1/x?hold' }));
      while (held.length < 2) await turn();
      const beyond = await dial();
      beyond.socket.write(post('beyond'));
      assert.match(
        await beyond.closed,
        /^HTTP\/1\.1 503 [\s\S]*Connection: close\r\n[\s\S]*too_many_connections/,
      );
      for (const exchange of held) sendJson(exchange, 200, { done: true });
      await first.until(/"done":true/);
    });

    it('leaves no listener on its connection', async () => {
      const seen: unknown[] = [];
      const { dial } = await start({
        onRequest: (exchange) => {
          const { socket } = exchange.request;
          if (exchange.path === '/other')
            seen.push(
              socket
                .eventNames()
                .map((name) => [String(name), socket.listenerCount(name)])
                .sort(),
            );
          return echo(exchange);
        },
      });
      const { socket, until } = await dial();
      for (let count = 1; count <= 30; count += 1) {
        const path = isFast && count <= 20 ? '/v1/x' : '/other';
        socket.write(post('a', { path }));
        await until('"a"}', count);
      }
      const [first] = seen;
      for (const listeners of seen) assert.deepEqual(listeners, first);
      assert.deepEqual(first, [
        ['close', 3],
        ['data', 1],
        ['drain', 1],
        ['end', 2],
        ['error', 1],
        ['pause', 1],
        ['resume', 1],
        ['timeout', 1],
      ]);
    });
  });
}

describe('the fast path', { timeout: 60_000 }, () => {
  const start = async (onRequest: Handler = echo) => {
    const served: string[] = [];
    const note = (way: string) => (exchange: HttpExchange) => {
      served.push(way);
      return onRequest(exchange);
    };
    const server = createHttpServer({
      limits: { ...limits, bodyBytes: 5_000_000 },
      renderError: ({ code, status }) => ({ status, body: { code } }),
      onUpgrade: (_request, socket) => socket.destroy(),
      onRequest: note('node'),
      fastPath: { takes: (path) => path.startsWith('/v1/'), onRequest: note('fast') },
    });
    const { port } = await server.listen('127.0.0.1', 0);
    cleanups.push(() => server.close());
    return { served, server, port, dial: () => dial({ port, host: '127.0.0.1' }) };
  };

  it('gives a connection to Node with the first request that is not simple, or arrives in parts', async () => {
    const { dial, port, served, server } = await start((exchange) => sendJson(exchange, 200, { done: true }));
    for (const [text, way] of [
      [post('a'), 'fast'],
      [post('a', { path: '/v1/x?a=b' }), 'fast'],
      [post('a', { path: '/other' }), 'node'],
      [post('a', { path: '/other?/v1/' }), 'node'],
      [`\r\n${post('a')}`, 'node'],
      ['GET /v1/x HTTP/1.1\r\nHost: a\r\n\r\n', 'node'],
      [post('a'.repeat(1_048_576)), 'fast'],
      [post('a'.repeat(1_048_577)), 'node'],
      [
        `POST /v1/x HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(limits.headerBytes - 100)}\r\nContent-Length: 0\r\n\r\n`,
        'fast',
      ],
    ] as const) {
      const { socket, until } = await dial();
      served.length = 0;
      socket.write(post('first'));
      await until(/"done":true}/);
      socket.write(text);
      await until('"done":true}', 2);
      socket.write(post('last'));
      await until('"done":true}', 3);
      assert.deepEqual(served, ['fast', way, way], text.slice(0, 60));
    }
    const client = await dialServer(server, port);
    served.length = 0;
    await client.send('POST /v1/x HTTP/1.1\r\nHost: a\r\n');
    await client.send('Content-Length: 1\r\n\r\na');
    await client.settled();
    assert.match(await client.end(), /"done":true}/);
    assert.deepEqual(served, ['node']);
  });

  it('reads a bounded part of what is sent ahead, and the rest once it can be answered', async () => {
    const held: HttpExchange[] = [];
    const { dial, server } = await start((exchange) =>
      exchange.query === 'hold' ? held.push(exchange) : echo(exchange),
    );
    const { socket, until } = await dial();
    socket.write(post('', { path: '/v1/x?hold' }));
    while (held.length < 1) await turn();
    const [exchange] = held;
    const total = 60;
    const large = 'y'.repeat(40_000);
    for (let count = 0; count < total; count += 1) socket.write(post(large, { path: `/v1/x?${count}` }));
    const peer = exchange?.request.socket;
    // What has arrived does not grow any more.
    for (let quiet = 0, before = 0; quiet < 50; quiet += 1) {
      await turn();
      if (peer?.bytesRead !== before) quiet = 0;
      before = peer?.bytesRead ?? 0;
    }
    assert.ok((peer?.bytesRead ?? 0) < 500_000, `${peer?.bytesRead} bytes were read`);
    assert.equal(server.inFlight(), 1);
    if (exchange !== undefined) sendJson(exchange, 200, { got: large });
    const text = await until('"got":"y', total + 1);
    assert.equal(text.match(/HTTP\/1\.1 200 OK/g)?.length, total + 1);
  });

  it('stops reading after many small pieces that are sent ahead', async () => {
    const held: HttpExchange[] = [];
    const { dial } = await start((exchange) =>
      exchange.query === 'hold' ? held.push(exchange) : echo(exchange),
    );
    const { socket, until } = await dial();
    socket.setNoDelay(true);
    socket.write(post('', { path: '/v1/x?hold' }));
    while (held.length < 1) await turn();
    const [exchange] = held;
    const ahead = post('z'.repeat(2000));
    for (const byte of ahead) {
      socket.write(byte);
      await turn();
    }
    // Without an end to it, each piece would cost more than the one before it.
    assert.equal(exchange?.request.socket.isPaused(), true);
    if (exchange !== undefined) sendJson(exchange, 200, { got: '' });
    await until(/"z{2000}"}/);
  });

  it('serves no further request on a connection that it has ended', async () => {
    const held: HttpExchange[] = [];
    const { dial, served, server } = await start((exchange) => held.push(exchange));
    const { closed, socket } = await dial();
    socket.write(post('a') + post('b'));
    while (held.length < 1) await turn();
    const drained = server.drain(30_000);
    if (held[0] !== undefined) sendJson(held[0], 200, { done: true });
    assert.match(await closed, /Connection: close\r\n[\s\S]*"done":true}$/);
    await drained;
    assert.deepEqual(served, ['fast']);
  });
});

describe('a connection between two requests', { timeout: 60_000 }, () => {
  it('is closed after its idle timeout, which does not run during a request', async () => {
    const answering: SimpleResponse[] = [];
    const fastPath = createFastPath({
      limits: { headerBytes: 1000, headersTimeoutMs: 30_000, bodyTimeoutMs: 30_000 },
      keepAliveMs: 0,
      checkMs: 10,
      takes: () => true,
      onRequest: (_request, response) => void answering.push(response),
      toNode: (socket) => socket.destroy(),
      onTimeout: (socket) => socket.destroy(),
    });
    const server = createServer({ allowHalfOpen: true }, fastPath.accept).listen(0, '127.0.0.1');
    cleanups.push(() => {
      fastPath.close();
      server.close();
    });
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const [waiting, idle] = [
      await dial({ port, host: '127.0.0.1' }),
      await dial({ port, host: '127.0.0.1' }),
    ];
    waiting.socket.write(post('a') + post('b'));
    while (answering.length < 1) await turn();
    answering[0]?.end('first');
    while (answering.length < 2) await turn();
    idle.socket.write(post('c'));
    while (answering.length < 3) await turn();
    answering[2]?.end('third');
    assert.match(await idle.closed, /third$/);
    assert.equal(waiting.socket.closed, false);
    answering[1]?.end('second');
    assert.match(await waiting.closed, /first[\s\S]*second$/);
  });
});

describe('a request that timed out', { timeout: 60_000 }, () => {
  it('is not followed by another one on its connection', async () => {
    let served = 0;
    const server = createHttpServer({
      limits: { ...limits, headersTimeoutMs: 100, bodyTimeoutMs: 100 },
      renderError: ({ code, status }) => ({ status, body: { code } }),
      onUpgrade: (_request, socket) => socket.destroy(),
      onRequest: () => assert.fail('this is of the fast path'),
      fastPath: {
        takes: () => true,
        onRequest: (exchange) => {
          served += 1;
          return echo(exchange);
        },
      },
    });
    cleanups.push(() => server.close());
    const { port } = await server.listen('127.0.0.1', 0);
    const { closed, socket, until } = await dial({ port, host: '127.0.0.1' });
    socket.write(post('123', { length: 10 }));
    await until(/^HTTP\/1\.1 408 /);
    // Its own end has not come yet.
    socket.write(`4567890${post('next')}`);
    assert.match(await closed, /request_timeout"}$/);
    assert.equal(served, 1);
  });
});
