import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { createIndexedSet, type IndexedMember } from '../../lib/indexed-set.ts';

/** One open WebSocket, as its handler sees it. */
export interface TextSocket {
  /** True while the peer takes no more; `onDrain` is called when it does. */
  readonly full: boolean;
  /** True once no more work is to be begun: the server stops. */
  readonly draining: boolean;
  /** Sends one text message; after the close it is dropped. */
  send(text: string): void;
  /** Called whenever all work is done, so that a draining server can close the connection. */
  settled(): void;
}

export interface TextHandler {
  /** One whole message; `isText` is false for a binary one. */
  onMessage(bytes: Buffer, isText: boolean): void;
  onDrain(): void;
  /** The connection is closed, for any reason. */
  onClose(): void;
  /** True while work is under way that a drain should wait for. */
  busy(): boolean;
}

export interface Handshake {
  request: IncomingMessage;
  socket: Duplex;
  head: Buffer;
  /** Goes out as `x-request-id`. */
  id: string;
  /** Serves the connection from now on. */
  open(socket: TextSocket): TextHandler;
  /** The request is no proper handshake; nothing was sent. Must answer or destroy the socket. */
  refuse(reason: string): void;
}

export interface WebSockets {
  accept(handshake: Handshake): void;
  /** Closes idle connections and waits until no other is busy, but at most `ms`. */
  drain(ms: number): Promise<void>;
  /** Closes every connection: in good order, and by force soon after. */
  close(): Promise<void>;
}

export interface WebSocketOptions {
  /** Most bytes of one message; a larger one closes the connection with 1009. */
  maxBytes: number;
  /** Milliseconds between pings. A peer that has not answered one by the next is gone. */
  pingMs?: number;
  /** Milliseconds without a message or work until the connection is closed. */
  idleMs?: number;
}

/** Proxies cut connections that are silent for 30 to 60 seconds. */
const PING_MS = 20_000;
/** As long as OpenAI lets a connection live (WebSocket mode). */
const IDLE_MS = 60 * 60 * 1000;
/** How long a peer may take to answer the close. */
const CLOSING_MS = 500;
/** Close codes of RFC 6455, 7.4.1. */
const NORMAL = 1000;
const GOING_AWAY = 1001;

interface Connection extends IndexedMember {
  ws: WebSocket;
  handler: TextHandler;
  /** False while a ping is unanswered. */
  alive: boolean;
  /** performance.now() of the last message. */
  usedAt: number;
  socket: Duplex;
}

/** WebSockets of an HTTP server: handshakes, pings, limits and draining, and nothing about the contents of messages. */
export function createWebSockets({
  maxBytes,
  pingMs = PING_MS,
  idleMs = IDLE_MS,
}: WebSocketOptions): WebSockets {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: maxBytes,
    // A compression context costs some 300 KB a connection, many times what an idle one costs otherwise.
    perMessageDeflate: false,
  });
  const connections = createIndexedSet<Connection>();
  const waiting = createWaiting();
  let draining = false;
  let timer: NodeJS.Timeout | null = null;

  const beat = () => {
    for (const connection of connections.members()) ping(connection, idleMs);
  };
  const opened = (ws: WebSocket, { open, socket }: Handshake): void => {
    const text: TextSocket = {
      get full() {
        return socket.writableNeedDrain;
      },
      get draining() {
        return draining;
      },
      send(message) {
        if (ws.readyState === ws.OPEN) ws.send(message);
      },
      settled() {
        if (draining) ws.close(GOING_AWAY);
        waiting.changed();
      },
    };
    const connection: Connection = {
      slot: -1,
      ws,
      socket,
      alive: true,
      usedAt: performance.now(),
      handler: open(text),
    };
    listen(connection);
    connections.add(connection);
    timer ??= setInterval(beat, pingMs).unref();
    ws.on('close', () => {
      connections.remove(connection);
      if (connections.size === 0 && timer !== null) {
        clearInterval(timer);
        timer = null;
      }
      connection.handler.onClose();
      waiting.changed();
    });
    if (draining) ws.close(GOING_AWAY);
  };
  return {
    accept: (handshake) => accept(server, handshake, (ws) => opened(ws, handshake)),
    async drain(ms) {
      draining = true;
      for (const { handler, ws } of connections.members()) if (!handler.busy()) ws.close(GOING_AWAY);
      await waiting.until(() => connections.members().every(({ handler }) => !handler.busy()), ms);
    },
    async close() {
      draining = true;
      for (const { ws } of connections.members()) ws.close(GOING_AWAY);
      await waiting.until(() => connections.size === 0, CLOSING_MS);
      for (const { ws } of connections.members()) ws.terminate();
      await waiting.until(() => connections.size === 0, CLOSING_MS);
    },
  };
}

interface Waiting {
  /** Has everybody who waits look again. */
  changed(): void;
  /** Waits until `done`, but at most `ms`. */
  until(done: () => boolean, ms: number): Promise<void>;
}

function createWaiting(): Waiting {
  const checks = new Set<() => void>();
  return {
    changed() {
      for (const check of checks) check();
    },
    until: (done, ms) =>
      new Promise((resolve) => {
        const finish = () => {
          clearTimeout(limit);
          checks.delete(check);
          resolve();
        };
        const check = () => {
          if (done()) finish();
        };
        const limit = setTimeout(finish, ms);
        checks.add(check);
        check();
      }),
  };
}

/** Answers a handshake with 101, or has it refused. All that `ws` reports comes before it returns. */
function accept(server: WebSocketServer, handshake: Handshake, opened: (ws: WebSocket) => void): void {
  const { head, id, refuse, request, socket } = handshake;
  const onHeaders = (headers: string[]) => headers.push(`x-request-id: ${id}`);
  const onRefused = (error: Error) => refuse(error.message);
  server.on('headers', onHeaders);
  server.on('wsClientError', onRefused);
  try {
    server.handleUpgrade(request, socket, head, opened);
  } finally {
    server.off('headers', onHeaders);
    server.off('wsClientError', onRefused);
  }
}

function listen(connection: Connection): void {
  const { handler, socket, ws } = connection;
  ws.on('message', (data: RawData, isBinary: boolean) => {
    connection.alive = true;
    connection.usedAt = performance.now();
    handler.onMessage(bytesOf(data), !isBinary);
    // A client that does not read its answers is not read from: they would pile up here.
    if (socket.writableNeedDrain) ws.pause();
  });
  ws.on('pong', () => {
    connection.alive = true;
  });
  // A `close` follows, which is all that matters.
  ws.on('error', () => {});
  socket.on('drain', () => {
    ws.resume();
    handler.onDrain();
  });
}

/** Pings a peer, terminates it if it is gone, and closes it if it is idle. */
function ping(connection: Connection, idleMs: number): void {
  const { alive, handler, socket, ws } = connection;
  // A ping would wait behind the bytes that a slow peer has not read yet; whether that peer is gone, TCP finds out.
  if (socket.writableLength > 0) return;
  if (!alive) {
    ws.terminate();
    return;
  }
  if (!handler.busy() && performance.now() - connection.usedAt > idleMs) {
    ws.close(NORMAL, 'idle for too long');
    return;
  }
  if (ws.readyState === ws.OPEN && !ws.isPaused) {
    ws.ping();
    connection.alive = false;
  }
}

function bytesOf(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}
