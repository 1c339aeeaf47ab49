import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { after, describe, it } from 'node:test';
import { simpleHead } from './head.ts';
import { SimpleRequest } from './request.ts';
import { SimpleResponse } from './response.ts';

const cleanups: (() => void)[] = [];
after(() => {
  for (const cleanup of cleanups) cleanup();
});

interface Answering {
  response: SimpleResponse;
  /** The server's end. */
  socket: Socket;
  client: Socket;
  /** How often all of the answer was given to the system. */
  sent(): number;
  /** All that the client receives until the connection is closed. */
  received: Promise<string>;
}

async function answering(): Promise<Answering> {
  const server = createServer({ allowHalfOpen: true });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [socket] = (await once(server, 'connection')) as [Socket];
  server.close();
  cleanups.push(() => {
    client.destroy();
    socket.destroy();
  });
  client.on('error', () => {});
  socket.on('error', () => {});
  const head = simpleHead('POST /v1/x HTTP/1.1\r\nHost: a\r\nContent-Length: 0');
  assert.ok(head !== null);
  let sent = 0;
  const response = new SimpleResponse(new SimpleRequest(socket, head), socket, {
    keepAliveSeconds: 65,
    date: () => 'Thu, 01 Jan 1970 00:00:00 GMT',
    onSent: () => {
      sent += 1;
    },
  });
  socket.on('drain', () => response.roomAgain());
  socket.on('close', () => response.close());
  const received = new Promise<string>((resolve) => {
    let text = '';
    client.on('data', (bytes) => {
      text += bytes.toString('latin1');
    });
    client.on('close', () => resolve(text));
  });
  return { response, socket, client, sent: () => sent, received };
}

/** Resolves when the system has taken what was written before. */
const written = (socket: Socket) => new Promise<void>((resolve) => socket.write('', () => resolve()));
const OWN =
  'x-content-type-options: nosniff\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\nConnection: keep-alive\r\nKeep-Alive: timeout=65\r\n';

describe('a simple response', () => {
  it('has the header lines that Node writes, in the same order', async () => {
    const { received, response, socket } = await answering();
    response.writeHead(200, { 'X-A': 1, 'set-cookie': ['a', 'b'], none: undefined });
    response.write('é');
    response.write(Buffer.from('b'));
    response.end('c');
    await once(response, 'close');
    socket.end();
    assert.equal(
      await received,
      `HTTP/1.1 200 OK\r\nX-A: 1\r\nset-cookie: a\r\nset-cookie: b\r\n${OWN}Transfer-Encoding: chunked\r\n\r\n2\r\n\xc3\xa9\r\n1\r\nb\r\n1\r\nc\r\n0\r\n\r\n`,
    );
  });

  it('has no chunks if it has a length, and no body if its status allows none', async () => {
    for (const status of [204, 304]) {
      const { received, response, socket } = await answering();
      response.writeHead(status, ['content-length', '5']);
      response.write('a');
      response.end('bcde');
      await once(response, 'close');
      socket.end();
      assert.match(
        await received,
        /^HTTP\/1\.1 \d{3} [\w ]+\r\ncontent-length: 5\r\n(?:[\w-]+: .*\r\n)+\r\n$/,
      );
    }
  });

  it('can be given another head after one was refused', async () => {
    const refused: [string, string][] = [
      ['x-bad', 'a\nb'],
      ['x-bad', 'a\u0100'],
      ['a b', 'c'],
      ['', 'c'],
    ];
    for (const [name, value] of refused) {
      const { received, response, socket } = await answering();
      assert.throws(() => response.writeHead(204, ['connection', 'close', name, value]), TypeError);
      assert.equal(response.headersSent, false);
      assert.equal(response.statusCode, 200);
      assert.equal(response.shouldKeepAlive, true);
      response.writeHead(200, ['content-length', '1']);
      assert.throws(() => response.writeHead(200, []), TypeError);
      response.end('a');
      await once(response, 'close');
      socket.end();
      assert.equal(await received, `HTTP/1.1 200 OK\r\ncontent-length: 1\r\n${OWN}\r\na`);
    }
  });

  it('has a content-length if its head and its end are written together', async () => {
    const { received, response, socket } = await answering();
    response.end('é');
    await once(response, 'close');
    socket.end();
    assert.match(await received, /^HTTP\/1\.1 200 OK\r\ncontent-length: 2\r\n.*\r\n\r\n\xc3\xa9$/is);
  });

  it('is finished once the operating system has taken all of it', async () => {
    const { response, sent } = await answering();
    const closed = once(response, 'close');
    response.writeHead(200, ['content-length', '2']);
    response.end('ab');
    assert.deepEqual(
      [response.writableEnded, response.writableFinished, response.destroyed],
      [true, false, false],
    );
    await closed;
    assert.deepEqual([response.writableFinished, response.destroyed, response.socket], [true, true, null]);
    assert.equal(sent(), 1);
  });

  it('is not finished if its connection breaks before the operating system has taken all of it', async () => {
    const { client, response, sent, socket } = await answering();
    client.pause();
    const closed = once(response, 'close');
    response.writeHead(200, ['content-length', '9000000']);
    response.end('a'.repeat(9_000_000));
    socket.destroy();
    await closed;
    assert.deepEqual([response.writableFinished, response.destroyed], [false, true]);
    assert.equal(sent(), 0);
  });

  it('is not written once its client is gone, and throws nothing', async () => {
    const { response, sent, socket } = await answering();
    const closed = once(response, 'close');
    response.destroy();
    assert.equal(response.destroyed, true);
    await closed;
    assert.ok(socket.destroyed);
    response.writeHead(200, {});
    assert.equal(response.write('a'), false);
    await new Promise<void>((resolve) => void response.write('a', resolve));
    response.flushHeaders();
    response.end('b');
    assert.deepEqual([response.writableEnded, response.writableFinished], [true, false]);
    response.close();
    assert.equal(sent(), 0);
  });

  it('writes nothing after the end of its connection, and lets earlier writes go out', async () => {
    const { received, response, sent, socket } = await answering();
    const errors: Error[] = [];
    socket.on('error', (error) => errors.push(error));
    response.writeHead(200, {});
    response.write('a'.repeat(5_000_000));
    socket.end();
    assert.equal(response.write('b'), false);
    response.flushHeaders();
    response.end('c');
    assert.match(await received, /a\r\n$/);
    assert.deepEqual(errors, []);
    assert.equal(sent(), 0);
  });

  it('says that its buffer is full, and emits drain when it has room again, but not after its end', async () => {
    const { client, response, socket } = await answering();
    client.pause();
    let drained = 0;
    response.on('drain', () => {
      drained += 1;
    });
    response.writeHead(200, {});
    while (response.write(Buffer.alloc(65_536))) await written(socket);
    assert.equal(response.writableNeedDrain, true);
    const drain = once(response, 'drain');
    client.resume();
    await drain;
    assert.equal(response.writableNeedDrain, false);
    client.pause();
    while (response.write(Buffer.alloc(65_536)));
    const closed = once(response, 'close');
    response.end();
    assert.equal(response.writableNeedDrain, false);
    client.resume();
    await closed;
    assert.equal(drained, 1);
  });

  it('sends its head without a body when flushed, once', async () => {
    const { client, response } = await answering();
    response.writeHead(200, {});
    response.flushHeaders();
    const [head] = (await once(client, 'data')) as [Buffer];
    assert.match(head.toString(), /chunked\r\n\r\n$/);
    response.flushHeaders();
    response.end();
    const [end] = (await once(client, 'data')) as [Buffer];
    assert.equal(end.toString(), '0\r\n\r\n');
  });
});
