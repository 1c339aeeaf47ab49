import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { refuseUpgrade } from '../send.ts';
import {
  createWebSockets,
  type TextHandler,
  type TextSocket,
  type WebSocketOptions,
  type WebSockets,
} from './websocket.ts';

const closers: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Serving {
  port: number;
  webSockets: WebSockets;
  server: Server;
  /** What was received, and how many connections have closed. */
  received: string[];
  closed(): number;
  sockets: TextSocket[];
  state: { busy: boolean };
}

async function serve(options: Partial<WebSocketOptions> = {}): Promise<Serving> {
  const webSockets = createWebSockets({ maxBytes: 1000, ...options });
  const received: string[] = [];
  const sockets: TextSocket[] = [];
  const state = { busy: false };
  let closed = 0;
  const handler: TextHandler = {
    onMessage: (bytes, isText) => received.push(`${isText ? 'text' : 'binary'} ${bytes.toString('latin1')}`),
    onDrain: () => received.push('drain'),
    onClose: () => {
      closed += 1;
    },
    busy: () => state.busy,
  };
  const server = createServer();
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy());
    webSockets.accept({
      request,
      socket,
      head,
      id: 'req_1',
      refuse: (reason) => refuseUpgrade(socket, 400, { reason }),
      open(opened) {
        sockets.push(opened);
        return handler;
      },
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => {
    server.close();
    return webSockets.close();
  });
  const { port } = server.address() as AddressInfo;
  return { port, webSockets, server, received, closed: () => closed, sockets, state };
}

async function open(port: number): Promise<WebSocket> {
  const ws = new WebSocket(`ws://127.0.0.1:${port}`);
  ws.on('error', () => {});
  closers.push(() => ws.terminate());
  await once(ws, 'open');
  return ws;
}

/** A peer that shakes hands and answers nothing after that. */
async function mute(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  closers.push(() => socket.destroy());
  socket.write(
    'GET / HTTP/1.1\r\nhost: a\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  );
  const [answer] = await once(socket, 'data');
  assert.match(String(answer), /^HTTP\/1\.1 101 .*x-request-id: req_1/s);
  return socket;
}

const codeOf = async (ws: WebSocket): Promise<number> => (await once(ws, 'close'))[0];

async function waitFor(check: () => boolean): Promise<void> {
  while (!check()) await delay(10);
}

describe('a WebSocket', () => {
  it('passes messages on, and tells its handler when it ends', async () => {
    const { closed, port, received, sockets } = await serve();
    const ws = await open(port);
    ws.send('größe');
    ws.send(Buffer.from('raw'));
    await waitFor(() => received.length === 2);
    assert.deepEqual(received, ['text grÃ¶Ã\u009fe', 'binary raw']);
    sockets[0]?.send('answer');
    assert.equal(String((await once(ws, 'message'))[0]), 'answer');
    ws.close();
    await waitFor(() => closed() === 1);
    sockets[0]?.send('dropped');
  });

  it('refuses an invalid handshake', async () => {
    const { port } = await serve();
    const socket = connect(port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n');
    const [answer] = await once(socket, 'data');
    assert.match(String(answer), /^HTTP\/1\.1 400 .*Sec-WebSocket-Key/s);
  });

  for (const [name, bytes] of Object.entries({
    'an unmasked frame': [0x81, 0x01, 0x61],
    'a reserved bit': [0xc1, 0x81, 0, 0, 0, 0, 0x61],
    'an unknown opcode': [0x83, 0x80, 0, 0, 0, 0],
    'a text that is no UTF-8': [0x81, 0x81, 0, 0, 0, 0, 0xff],
    'a length beyond every limit': [0x81, 0xff, 0x7f, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0],
    'a fragment of nothing': [0x80, 0x80, 0, 0, 0, 0],
  })) {
    it(`is closed after ${name}`, async () => {
      const { closed, port, received } = await serve();
      const socket = await mute(port);
      socket.write(Buffer.from(bytes));
      const [close] = await once(socket, 'data');
      assert.equal(close[0], 0x88, 'a close frame');
      socket.end();
      await waitFor(() => closed() === 1);
      assert.deepEqual(received, []);
    });
  }

  it('is pinged, and stays open while its peer answers', async () => {
    // Long enough for an answer on a busy machine.
    const { closed, port } = await serve({ pingMs: 1000 });
    const ws = await open(port);
    let pings = 0;
    ws.on('ping', () => {
      pings += 1;
    });
    await waitFor(() => pings >= 2);
    assert.equal(closed(), 0);
  });

  it('is closed if its peer does not answer a ping', async () => {
    const { closed, port } = await serve({ pingMs: 20 });
    await mute(port);
    await waitFor(() => closed() === 1);
  });

  it('stays open while a slow peer still reads', async () => {
    const { closed, port, received, sockets } = await serve({ pingMs: 50 });
    const socket = await mute(port);
    socket.pause();
    const text = 'x'.repeat(20_000_000);
    sockets[0]?.send(text);
    assert.equal(sockets[0]?.full, true);
    let bytes = 0;
    for (let turn = 0; turn < 20; turn += 1) {
      const piece: Buffer | null = socket.read();
      bytes += piece?.length ?? 0;
      await delay(20);
    }
    assert.ok(bytes < text.length, 'it has not taken everything');
    assert.equal(closed(), 0);
    socket.resume();
    await waitFor(() => received.includes('drain'));
  });

  it('is closed after an idle timeout, but not while it is busy', async () => {
    const { port, state } = await serve({ pingMs: 20, idleMs: 50 });
    state.busy = true;
    const ws = await open(port);
    await delay(150);
    assert.equal(ws.readyState, ws.OPEN);
    state.busy = false;
    assert.equal(await codeOf(ws), 1000);
  });
});

describe('WebSockets of a server that stops', () => {
  it('are closed at once if they are idle, otherwise when their work is done', async () => {
    const { port, sockets, state, webSockets } = await serve();
    const ws = await open(port);
    state.busy = true;
    const drained = webSockets.drain(5000);
    await delay(30);
    assert.equal(ws.readyState, ws.OPEN);
    assert.equal(sockets[0]?.draining, true);
    state.busy = false;
    sockets[0]?.settled();
    assert.equal(await codeOf(ws), 1001);
    await drained;
  });

  it('are terminated if their peers do not answer the close frame', async () => {
    const { closed, port, webSockets } = await serve();
    await mute(port);
    await webSockets.close();
    assert.equal(closed(), 1);
  });
});
