import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { refuseUpgrade, sendJson } from '../send.ts';
import { connectionsFor } from './connection-limit.ts';
import { createHttpServer, type Exchange } from './server.ts';

const limits = { headerBytes: 16_384, headersTimeoutMs: 60_000, bodyTimeoutMs: 60_000, bodyBytes: 1_000_000 };

/** A server for three clients, that leaves requests to /wait unanswered. */
async function threeClients(test: TestContext) {
  const waiting: Exchange[] = [];
  let crowded = 0;
  const server = createHttpServer({
    limits,
    renderError: ({ code, retryAfter, status }) => ({
      status,
      body: { code },
      headers: retryAfter === null ? {} : { 'retry-after': String(retryAfter) },
    }),
    connections: { max: 3, isProbe: (path) => path === '/healthz', onCrowded: () => (crowded += 1) },
    onRequest: (exchange) =>
      exchange.path === '/wait' ? waiting.push(exchange) : sendJson(exchange, 200, { path: exchange.path }),
    onUpgrade: (_request, socket) => refuseUpgrade(socket, 426, { error: 'no upgrade here' }),
  });
  const { port } = await server.listen('127.0.0.1', 0);
  test.after(() => server.close());
  const dial = async (): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    await once(socket, 'connect');
    return socket;
  };
  /** Three clients with a request each. */
  const busy = async () => {
    for (let count = 1; count <= 3; count += 1) {
      (await dial()).write(request('/wait'));
      while (waiting.length < count) await new Promise(setImmediate);
    }
  };
  return { busy, dial, waiting, crowded: () => crowded };
}

const request = (path: string) => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`;

/** Everything that the socket receives until it is closed. */
async function untilClosed(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
  });
  if (!socket.closed) await once(socket, 'close');
  return text;
}

/** What has come when `pattern` is in it. */
async function untilSeen(socket: Socket, pattern: RegExp): Promise<string> {
  let text = '';
  while (!pattern.test(text)) text += String((await once(socket, 'data'))[0]);
  return text;
}

describe('a server with a connection limit', () => {
  it('closes the oldest connection without a request when a new one arrives', async (test) => {
    const { crowded, dial } = await threeClients(test);
    const answered = await dial();
    answered.write(request('/first'));
    await untilSeen(answered, /"path":"\/first"/);
    const silent = await dial();
    const later = await dial();
    assert.equal(crowded(), 0);
    const fourth = await dial();
    assert.equal(await untilClosed(answered), '', 'between two requests nothing is said');
    const fifth = await dial();
    const refusal = await untilClosed(silent);
    assert.match(refusal, /^HTTP\/1\.1 503 /);
    assert.match(refusal, /retry-after: 5\r\n/);
    assert.match(refusal, /too_many_connections/);
    for (const socket of [later, fourth, fifth]) {
      socket.write(request('/kept'));
      assert.match(await untilSeen(socket, /"path"/), /^HTTP\/1\.1 200 /);
    }
    assert.equal(crowded(), 2);
  });

  it('never closes a connection with a request, and answers only probes beyond the limit', async (test) => {
    const { busy, dial, waiting } = await threeClients(test);
    await busy();
    const probe = await dial();
    probe.write(request('/healthz'));
    const health = await untilClosed(probe);
    assert.match(health, /^HTTP\/1\.1 200 /);
    assert.match(health, /connection: close/i);
    const other = await dial();
    other.write(request('/other?path=/healthz'));
    const refusal = await untilClosed(other);
    assert.match(refusal, /^HTTP\/1\.1 503 [\s\S]*retry-after: 5\r\n/);
    const upgrade = await dial();
    upgrade.write(
      'GET /socket HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
    );
    assert.match(await untilClosed(upgrade), /^HTTP\/1\.1 503 /);
    for (const exchange of waiting) {
      assert.equal(exchange.request.socket.destroyed, false);
      sendJson(exchange, 200, {});
    }
    const again = await dial();
    again.write(request('/again'));
    assert.match(await untilSeen(again, /"path"/), /^HTTP\/1\.1 200 /);
  });

  it('keeps few connections beyond the limit, so that a probe is always served', async (test) => {
    const { busy, dial } = await threeClients(test);
    await busy();
    const flood: Socket[] = [];
    for (let count = 0; count < 20; count += 1) flood.push(await dial());
    const refused = await Promise.all(flood.slice(0, 12).map(untilClosed));
    for (const answer of refused) assert.match(answer, /^HTTP\/1\.1 503 /);
    const probe = await dial();
    probe.write(request('/healthz'));
    assert.match(await untilClosed(probe), /^HTTP\/1\.1 200 /);
    for (const socket of flood) socket.destroy();
  });
});

describe('the limit of connections', () => {
  it("leaves file descriptors for one upstream connection per client, and for the gateway's own files", () => {
    assert.equal(connectionsFor(128), 32);
    assert.equal(connectionsFor(1024), 480);
    assert.equal(connectionsFor(16), 8, 'few are let in even where there is no room');
    assert.equal(connectionsFor(null), Number.MAX_SAFE_INTEGER);
  });
});
