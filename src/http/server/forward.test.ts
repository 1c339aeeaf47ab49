import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { GatewayError } from '../../lib/error.ts';
import { createForwarder, type Forwarder } from './forward.ts';
import { resetConnection } from './reset.ts';
import { createHttpServer, type Exchange, type HttpServer } from './server.ts';

const limits = { headerBytes: 16_384, headersTimeoutMs: 10_000, bodyTimeoutMs: 10_000, bodyBytes: 1_000_000 };
const renderError = (error: GatewayError) => ({ status: error.status, body: { code: error.code } });

let folder: string;
let owner: HttpServer;
let front: HttpServer;
let forwarder: Forwarder;
let port: number;
/** Errors that the owner's server did not expect. */
const faults: unknown[] = [];

async function echo({ path, request, response }: Exchange): Promise<void> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  if (path === '/broken') {
    response.writeHead(200, { 'content-type': 'text/plain' });
    response.write('begun');
    resetConnection(response);
    return;
  }
  const { remoteAddress, remotePort } = request.socket;
  response.writeHead(201, { 'x-own': 'yes' });
  response.end(
    JSON.stringify({
      body: Buffer.concat(pieces).toString(),
      encoding: request.headers['content-encoding'] ?? null,
      framing: request.headers['transfer-encoding'] ?? request.headers['content-length'] ?? null,
      forged: request.headers['x-forwarded-for'] ?? null,
      peer: `${remoteAddress} ${remotePort}`,
    }),
  );
}

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'forward-'));
  const path = join(folder, 'owner.sock');
  const onError = (error: unknown) => faults.push(error);
  owner = createHttpServer({
    limits,
    renderError,
    onRequest: echo,
    onUpgrade(_, socket) {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n');
      socket.pipe(socket);
    },
    onError,
  });
  await owner.listenForProxies(path);
  forwarder = createForwarder(path);
  front = createHttpServer({
    limits,
    renderError,
    onRequest: (exchange) =>
      exchange.path === '/read' ? readFirst(exchange) : forwarder.forward(exchange, null),
    onUpgrade: forwarder.upgrade,
    onHttp2Connection: forwarder.takeOver,
    onError,
  });
  ({ port } = await front.listen('127.0.0.1', 0));
});

after(async () => {
  forwarder.close();
  await Promise.all([front.close(), owner.close()]);
  await rm(folder, { recursive: true });
});

async function readFirst(exchange: Exchange): Promise<void> {
  const pieces: Buffer[] = [];
  for await (const piece of exchange.request) pieces.push(piece as Buffer);
  return forwarder.forward(exchange, pieces);
}

/** Sends bytes, and gives all that comes back and the port that it was sent from. */
async function exchange(
  bytes: string,
): Promise<{ text: string; from: number | undefined; error: string | null }> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  let error: string | null = null;
  socket.on('data', (piece) => {
    text += String(piece);
  });
  socket.on('error', (failure: NodeJS.ErrnoException) => {
    error = failure.code ?? failure.message;
  });
  await once(socket, 'connect');
  const from = socket.localPort;
  socket.write(bytes);
  await new Promise((resolve) => socket.on('close', resolve));
  return { text, from, error };
}

const post = (path: string, body: string, more = '') =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ${body.length}\r\n${more}\r\n${body}`;

describe('a forwarded request', () => {
  it('arrives complete, with the address of its client, and its response returns complete', async () => {
    const { from, text } = await exchange(post('/a', 'hello', 'x-forwarded-for: 10.0.0.1\r\n'));
    assert.match(text, /^HTTP\/1\.1 201 Created\r\n/);
    assert.match(text, /\r\nx-own: yes\r\n/);
    const answer = /\{.*\}/.exec(text)?.[0] ?? '{}';
    assert.deepEqual(JSON.parse(answer), {
      body: 'hello',
      encoding: null,
      framing: '5',
      forged: '10.0.0.1',
      peer: `127.0.0.1 ${from}`,
    });
  });

  it('keeps its chunked body, and a body that was read before', async () => {
    const chunked = await exchange(
      'POST /a HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n',
    );
    assert.match(chunked.text, /"body":"abcde"/);
    const read = await exchange(post('/read', 'hello', 'content-encoding: gzip\r\n'));
    assert.match(read.text, /"body":"hello","encoding":null/);
  });

  it('has no body if the client sent none', async () => {
    const framing = async (method: string) => {
      const { text } = await exchange(`${method} /a HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
      return /"framing":("\w+"|null)/.exec(text)?.[1];
    };
    for (const method of ['POST', 'PUT', 'PATCH', 'QUERY'])
      assert.equal(await framing(method), '"0"', method);
    for (const method of ['GET', 'DELETE', 'OPTIONS']) assert.equal(await framing(method), 'null', method);
  });

  it('may be an HTTP/1.0 request without a host', async () => {
    assert.match((await exchange('GET /a HTTP/1.0\r\n\r\n')).text, /^HTTP\/1\.1 201 Created\r\n/);
    assert.match((await exchange('GET /a HTTP/1.1\r\nconnection: close\r\n\r\n')).text, /^HTTP\/1\.1 400 /);
  });

  it('is not forwarded if its client has gone', { timeout: 60_000 }, async (test) => {
    const path = join(folder, 'nothing-comes.sock');
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(path, resolve));
    const connected = once(other, 'connection').then(([socket]) => {
      socket.destroy();
      return 'connected';
    });
    const late = createForwarder(path);
    const outcome = Promise.withResolvers<string>();
    const server = createHttpServer({
      limits,
      renderError,
      async onRequest(exchange) {
        await once(exchange.response, 'close');
        const forwarded = late.forward(exchange, []).then(() => 'left');
        outcome.resolve(Promise.race([forwarded, connected]));
      },
      onUpgrade: (_, socket) => socket.destroy(),
    });
    const listening = await server.listen('127.0.0.1', 0);
    test.after(async () => {
      await server.close();
      other.close();
    });
    const client = connect(listening.port, '127.0.0.1');
    client.write('GET /a HTTP/1.1\r\nhost: x\r\n\r\n', () => client.destroy());
    assert.equal(await outcome.promise, 'left');
    assert.equal(late.open(), 0);
  });

  it('has its response cut off if the other process cuts it off, and later requests are served', async () => {
    const { error, text } = await exchange(post('/broken', ''));
    assert.match(text, /begun/);
    assert.equal(error, 'ECONNRESET');
    assert.match((await exchange(post('/a', 'again'))).text, /"body":"again"/);
    assert.deepEqual(faults, []);
  });

  it('becomes a connection in both directions if it asks for an upgrade', async () => {
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /ws HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n');
    const received = async (what: string) => {
      let text = '';
      while (!text.includes(what)) text += String((await once(socket, 'data'))[0]);
    };
    await received('101 Switching');
    socket.write('ping');
    await received('ping');
    let hasEnded = false;
    const ended = forwarder.ended(2 ** 31 - 1).then(() => {
      hasEnded = true;
    });
    socket.write('again');
    await received('again');
    assert.equal(hasEnded, false);
    socket.destroy();
    await ended;
  });

  it('gets a 503 if the other process is not there', async () => {
    const nobody = createForwarder(join(folder, 'nobody.sock'));
    const server = createHttpServer({
      limits,
      renderError,
      onRequest: (exchange) => nobody.forward(exchange, null),
      onUpgrade: (_, socket) => socket.destroy(),
    });
    const listening = await server.listen('127.0.0.1', 0);
    const reply = await fetch(`http://127.0.0.1:${listening.port}/a`);
    assert.equal(reply.status, 503);
    assert.deepEqual(await reply.json(), { code: 'shutting_down' });
    await server.close();
  });
});

describe('the socket for forwarded connections', () => {
  it('closes a connection that does not begin with a PROXY header', async () => {
    const socket = connect(join(folder, 'owner.sock'));
    socket.on('error', () => {});
    socket.write(post('/a', 'hello'));
    let text = '';
    socket.on('data', (piece) => {
      text += String(piece);
    });
    await once(socket, 'close');
    assert.equal(text, '');
  });
});
