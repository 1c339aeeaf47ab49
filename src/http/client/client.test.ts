import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, it } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import type { Dispatcher } from 'undici';
import {
  type Asking,
  answerInPieces,
  ask as askAt,
  MAX_HEAD_BYTES,
  ownClient as ownClientOf,
  type RawServer,
  startRawServer,
  undiciPool,
} from '../../../test/support/clients/http-clients.ts';
import { buildConnector } from '../outbound/undici-connect.ts';
import { type Client, createClient } from './client.ts';
import { onread } from './connection.ts';

let server: RawServer;
let origin = '';

before(async () => {
  server = await startRawServer();
  origin = server.origin;
});

after(() => server.close());

beforeEach(() => server.behave(() => {}));

const ask = (client: Client, asking?: Asking) => askAt(client, origin, asking);
const ownClient = () => ownClientOf(origin);

const length5 = 'Content-Length: 5\r\n\r\nhello';
const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

/** Answers that a server sent and then ended its connection, and whether ours takes them where undici does not, or refuses more. */
const answers: Readonly<Record<string, { bytes: string; as?: 'stricter' | 'RFC 9110, 8.6' }>> = {
  'a length': { bytes: `HTTP/1.1 200 OK\r\n${length5}` },
  'no reason': { bytes: `HTTP/1.1 200\r\n${length5}` },
  chunks: { bytes: `${chunked}5;x="a;b"\r\nhello\r\nA\r\n0123456789\r\n0\r\nT: u\r\n\r\n` },
  'until the end': { bytes: 'HTTP/1.1 200 OK\r\n\r\nhello' },
  'HTTP/1.0': { bytes: 'HTTP/1.0 200 OK\r\n\r\nhello' },
  'no body': { bytes: 'HTTP/1.1 204 No Content\r\n\r\n' },
  'nothing of a length': { bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n' },
  'a length that is another’s': {
    bytes: 'HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n',
    as: 'RFC 9110, 8.6',
  },
  'fields twice': { bytes: `HTTP/1.1 200 OK\r\nX: a\r\nx: b\r\nx:\tc\r\n${length5}` },
  'a field without a value': { bytes: `HTTP/1.1 200 OK\r\nA:\r\n${length5}` },
  'bytes beyond ASCII': { bytes: `HTTP/1.1 200 OK\r\nA: \xc3\xa9\r\n${length5}` },
  'blank lines before it': { bytes: `\r\n\r\nHTTP/1.1 200 OK\r\n${length5}` },
  'interim answers': {
    bytes: `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n${length5}`,
  },
  'an interim answer that closes': {
    bytes: `HTTP/1.1 103 Hints\r\nConnection: close\r\n\r\nHTTP/1.1 200 OK\r\n${length5}`,
  },
  'extensions of chunks': { bytes: `${chunked}5;a;b=c;d="e\\"f"\r\nhello\r\n0;x=y\r\n\r\n` },
  'an extension that does not end': { bytes: `${chunked}5;a="b\r\nhello\r\n0\r\n\r\n` },
  'an extension without a name': { bytes: `${chunked}5; a=b\r\nhello\r\n0\r\n\r\n` },
  'another answer behind it': {
    bytes: `HTTP/1.1 200 OK\r\n${length5}HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil`,
  },
  'a length and chunks': {
    bytes: `HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
  },
  'chunks and a length': {
    bytes: `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
  },
  'two lengths': { bytes: `HTTP/1.1 200 OK\r\nContent-Length: 5\r\n${length5}` },
  'lengths in a list': { bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\nhello' },
  'a length with a sign': { bytes: 'HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\nhello' },
  'no length': { bytes: 'HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\nhello' },
  'a huge length': { bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nhello' },
  'a shorter body': { bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello' },
  'half a head': { bytes: 'HTTP/1.1 200 OK\r\nConte' },
  'line feeds alone': { bytes: 'HTTP/1.1 200 OK\nContent-Length: 5\n\nhello' },
  'one line feed alone': { bytes: `HTTP/1.1 200 OK\r\nA: b\n${length5}` },
  'a carriage return alone': { bytes: `HTTP/1.1 200 OK\r\nA: b\rc\r\n${length5}` },
  'a zero byte': { bytes: `HTTP/1.1 200 OK\r\nA: b\0c\r\n${length5}` },
  'a folded line': { bytes: `HTTP/1.1 200 OK\r\nA: b\r\n c\r\n${length5}` },
  'a blank before the colon': { bytes: 'HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\nhello' },
  'no colon': { bytes: `HTTP/1.1 200 OK\r\nfoo\r\n${length5}` },
  'no name': { bytes: `HTTP/1.1 200 OK\r\n: x\r\n${length5}` },
  'chunks that are not last': {
    bytes: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
    as: 'stricter',
  },
  'chunks in chunks': {
    bytes:
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
    as: 'stricter',
  },
  'an unknown coding': { bytes: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: xchunked\r\n\r\nhello' },
  'a chunk of no size': { bytes: `${chunked}\r\nhello\r\n0\r\n\r\n` },
  'a size that is none': { bytes: `${chunked}5x\r\nhello\r\n0\r\n\r\n` },
  'a blank behind a size': { bytes: `${chunked}5 \r\nhello\r\n0\r\n\r\n` },
  'a huge size': { bytes: `${chunked}ffffffffffffffffff\r\nhello\r\n0\r\n\r\n` },
  'a line feed behind a size': { bytes: `${chunked}5\nhello\r\n0\r\n\r\n` },
  'a chunk beyond its size': { bytes: `${chunked}4\r\nhello\r\n0\r\n\r\n` },
  'half a chunk': { bytes: `${chunked}5\r\nhel` },
  'no last chunk': { bytes: `${chunked}5\r\nhello\r\n` },
  'a trailer with a line feed': { bytes: `${chunked}5\r\nhello\r\n0\r\n\n` },
  'an upgrade': {
    bytes: 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nhello',
  },
  'HTTP/2': { bytes: `HTTP/2 200 OK\r\n${length5}` },
  'HTTP/0.9': { bytes: 'hello' },
  nothing: { bytes: '' },
  'a head without an end': { bytes: `HTTP/1.1 200 OK\r\nA: ${'a'.repeat(MAX_HEAD_BYTES)}\r\n${length5}` },
};

describe("the gateway's HTTP/1.1 client", () => {
  for (const [name, { as, bytes }] of Object.entries(answers)) {
    it(`reads a response with ${name} as undici does, in one piece and in many`, async () => {
      const outcomeOf = async (client: Client) => {
        const { code, ...outcome } = await ask(client);
        await client.destroy();
        return outcome;
      };
      server.behave(answerInPieces([bytes]));
      const theirs = await outcomeOf(undiciPool(origin));
      const ours = await outcomeOf(ownClient());
      server.behave(answerInPieces(bytes.length > 2_000 ? (bytes.match(/.{1,9999}/gs) ?? []) : [...bytes]));
      const inPieces = await outcomeOf(ownClient());
      assert.deepEqual(inPieces, ours);
      if (as === 'stricter') assert.equal(ours.end, 'failed');
      else if (as === undefined) assert.deepEqual(ours, theirs);
      else assert.equal(ours.end, 'ended');
    });
  }

  it('keeps the line ends of a body whose head arrived in two pieces', async () => {
    const events = 'data: {"a":1}\n\ndata: [DONE]\n\n';
    const head = `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: ${events.length}\r\n\r\n`;
    for (const at of [1, 20, head.length - 3, head.length - 1]) {
      const client = ownClient();
      server.behave(answerInPieces([head.slice(0, at), head.slice(at) + events]));
      const { body, end } = await ask(client);
      assert.deepEqual([body, end], [events, 'ended'], `cut at ${at}`);
      await client.destroy();
    }
  });

  it('reuses a connection, but not after a response without a request', async () => {
    const client = ownClient();
    server.behave((socket) => socket.on('data', () => socket.write(`HTTP/1.1 200 OK\r\n${length5}`)));
    for (let time = 0; time < 3; time += 1) assert.equal((await ask(client)).body, 'hello');
    assert.equal(server.sockets(), 1);
    server.behave((socket) =>
      socket.on('data', () => socket.write(`HTTP/1.1 200 OK\r\n${length5}HTTP/1.1 200 OK\r\n${length5}`)),
    );
    await client.destroy();
    const other = ownClient();
    assert.equal((await ask(other)).body, 'hello');
    assert.equal((await ask(other)).body, 'hello');
    assert.equal(server.sockets(), 2);
    await other.destroy();
  });

  it('does not reuse a connection that the server closes, or is about to close', async () => {
    for (const header of ['Connection: close', 'Keep-Alive: timeout=1']) {
      const client = ownClient();
      server.behave((socket) =>
        socket.on('data', () => socket.write(`HTTP/1.1 200 OK\r\n${header}\r\n${length5}`)),
      );
      await ask(client);
      await ask(client);
      assert.equal(server.sockets(), 2, header);
      await client.destroy();
    }
  });

  it('sends headers and body unchanged, and adds the framing', async () => {
    const client = ownClient();
    let received = '';
    server.behave((socket) =>
      socket.on('data', (bytes) => {
        received += bytes.toString('latin1');
        if (/\r\n\r\n(?:\{\}|ab)$|0\r\n\r\n$/.test(received)) socket.write(`HTTP/1.1 200 OK\r\n${length5}`);
      }),
    );
    const host = origin.slice('http://'.length);
    const head = `POST /v1/x HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`;
    await ask(client, { headers: ['x-a', 'b'] });
    assert.equal(received, `${head}x-a: b\r\ncontent-length: 2\r\n\r\n{}`);
    received = '';
    await ask(client, { headers: ['content-length', '2'], body: [Buffer.from('a'), Buffer.from('b')] });
    assert.equal(received, `${head}content-length: 2\r\n\r\nab`);
    received = '';
    await ask(client, { body: [Buffer.from('a'), Buffer.from(''), Buffer.from('bc')] });
    assert.equal(received, `${head}transfer-encoding: chunked\r\n\r\n1\r\na\r\n2\r\nbc\r\n0\r\n\r\n`);
    await client.destroy();
  });

  it('sends no request that a server could read as two', async () => {
    const client = ownClient();
    const refused = (headers: string[]) => assert.rejects(ask(client, { headers }), TypeError);
    const dispatch = (path: string) => () =>
      client.dispatch({ origin, path, method: 'POST', headers: [], body: null }, {});
    for (const value of ['a\r\nb: c', 'a\nb', 'a\0', 'a→']) await refused(['x-a', value]);
    for (const name of [
      '',
      'x a',
      'x:',
      'x\r\ny',
      'X-Upper',
      'transfer-encoding',
      'host',
      'connection',
      'expect',
    ])
      await refused([name, 'a']);
    await refused(['content-length', '3']);
    for (const path of ['x', '/a b', '/a\r\nb', '/ä']) assert.throws(dispatch(path), TypeError);
    await client.destroy();
    assert.equal(server.sockets(), 0);
  });

  it('aborts a request whose body has another length than declared, or fails', async () => {
    server.behave(() => {});
    for (const pieces of [['a'], ['a', 'bc']]) {
      const client = ownClient();
      const body = pieces.map((piece) => Buffer.from(piece));
      const { code } = await ask(client, { headers: ['content-length', '2'], body });
      assert.equal(code, 'ERR_HTTP_CONTENT_LENGTH_MISMATCH');
      await client.destroy();
    }
    const client = ownClient();
    const failing = (async function* () {
      yield Buffer.from('a');
      throw new Error('the client left');
    })();
    assert.equal((await ask(client, { body: failing })).code, 'the client left');
    await client.destroy();
  });

  it('returns a response that arrives before the request is sent, and does not reuse the connection', async () => {
    const client = ownClient();
    server.behave((socket) =>
      socket.once('data', () => socket.write(`HTTP/1.1 413 Too Large\r\n${length5}`)),
    );
    const pending = (async function* () {
      yield Buffer.from('a');
      await new Promise(() => {});
    })();
    assert.equal((await ask(client, { body: pending })).status, 413);
    assert.equal((await ask(client)).status, 413);
    assert.equal(server.sockets(), 2);
    await client.destroy();
  });

  it('reports once that a body in pieces was sent, and never if its connection was closed', async () => {
    const pieces = Array.from({ length: 512 }, () => Buffer.alloc(65_536, 'a'));
    const all = pieces.length * 65_536;
    const headers = ['content-length', String(all)];
    let sent = 0;
    const onSent = () => {
      sent += 1;
    };
    const asking = { headers, body: pieces, onSent };
    let read = 0;
    server.behave((socket) => {
      const { promise: begun, resolve } = Promise.withResolvers<void>();
      socket.on('data', (bytes) => {
        read += bytes.length;
        if (read === bytes.length) {
          socket.pause();
          resolve();
        } else if (read > all) socket.write(`HTTP/1.1 200 OK\r\n${length5}`);
      });
      begun.then(() => {
        assert.equal(sent, 0);
        socket.resume();
      });
    });
    const client = ownClient();
    assert.equal((await ask(client, asking)).status, 200);
    assert.equal(sent, 1);
    server.behave((socket) => socket.once('data', () => socket.resetAndDestroy()));
    await client.destroy();
    const cut = ownClient();
    assert.equal((await ask(cut, asking)).end, 'failed');
    server.behave((socket) =>
      socket.once('data', () => {
        socket.pause();
        socket.write(`HTTP/1.1 413 Too Large\r\n${length5}`);
      }),
    );
    assert.equal((await ask(cut, asking)).status, 413);
    await cut.destroy();
    assert.equal(sent, 1);
  });

  it('reads nothing while it is paused, and reports the end afterwards', async () => {
    const client = ownClient();
    const all = 32 * 1024 * 1024;
    let sent = 0;
    server.behave((socket) =>
      socket.once('data', () => {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${all}\r\n\r\n`);
        const piece = Buffer.alloc(65_536);
        const more = (): void => {
          while (sent < all) {
            sent += piece.length;
            if (!socket.write(piece)) {
              socket.once('drain', more);
              return;
            }
          }
        };
        more();
      }),
    );
    let received = 0;
    let held: Dispatcher.DispatchController | null = null;
    const firstPause = new Promise<void>((resolve) => {
      const asking: Asking = {
        onData(controller, bytes) {
          received += bytes.length;
          if (held !== null) return;
          held = controller;
          controller.pause();
          resolve();
        },
      };
      void ask(client, asking).then(({ end }) => {
        assert.equal(end, 'ended');
        finished();
      });
    });
    let finished = (): void => {};
    const end = new Promise<void>((resolve) => {
      finished = resolve;
    });
    await firstPause;
    const atPause = received;
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(received, atPause);
    assert.ok(sent < all, 'the server had to wait');
    (held as Dispatcher.DispatchController | null)?.resume();
    await end;
    assert.equal(received, all);
    await client.destroy();
  });

  it('does the same over TLS', async () => {
    const psk = Buffer.alloc(32, 7);
    const offers = { ciphers: 'PSK-AES128-GCM-SHA256', maxVersion: 'TLSv1.2' } as const;
    let sockets = 0;
    const secure = createTlsServer({ ...offers, pskCallback: () => psk }, (socket) => {
      sockets += 1;
      socket.on('data', () => socket.write(`${chunked}5\r\nhello\r\n0\r\n\r\n`));
    }).listen(0, '127.0.0.1');
    await once(secure, 'listening');
    const options = {
      ...offers,
      onread,
      pskCallback: () => ({ psk, identity: 'test' }),
      checkServerIdentity: () => undefined,
    };
    const { port } = secure.address() as AddressInfo;
    const client = createClient(`https://127.0.0.1:${port}`, {
      connect: buildConnector({ timeout: 5_000, ...options }),
      keepAlive: true,
      keepAliveMs: 30_000,
      maxHeadBytes: MAX_HEAD_BYTES,
    });
    const paused: Asking = {
      onData(controller) {
        controller.pause();
        setImmediate(() => controller.resume());
      },
    };
    for (const asking of [paused, {}]) assert.equal((await ask(client, asking)).body, 'hello');
    assert.equal(sockets, 1);
    await client.destroy();
    secure.close();
  });

  it('closes the connection of a request that is aborted at any time', async () => {
    const closed = Promise.withResolvers<void>();
    server.behave((socket) => {
      socket.on('close', () => closed.resolve());
      socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello'));
    });
    const client = ownClient();
    const reason = new Error('gone');
    assert.equal((await ask(client, { onData: (controller) => controller.abort(reason) })).code, 'gone');
    await closed.promise;
    assert.equal((await ask(client, { onStart: (controller) => controller.abort(reason) })).code, 'gone');
    const waiting = ask(client);
    await client.destroy();
    assert.equal((await waiting).end, 'failed');
  });
});
