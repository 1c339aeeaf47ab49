import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import { type Client, createClient } from '../../../src/http/client/client.ts';
import { onread } from '../../../src/http/client/connection.ts';
import { outboundConnector } from '../../../src/http/outbound/connector.ts';
import { Pool } from '../../../src/http/outbound/undici.ts';

const listening = () => null;

/** Most bytes of the head of an answer. */
export const MAX_HEAD_BYTES = 131_072;

/** The gateway's own client of an origin. */
export function ownClient(origin: string): Client {
  const connect = outboundConnector({ timeoutMs: 5_000, listening, onread });
  return createClient(origin, {
    connect,
    keepAlive: true,
    keepAliveMs: 30_000,
    maxHeadBytes: MAX_HEAD_BYTES,
  });
}

/** undici as the gateway uses it. */
export function undiciPool(origin: string): Client {
  const connect = outboundConnector({ timeoutMs: 5_000, listening });
  return new Pool(origin, {
    pipelining: 1,
    connect,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: MAX_HEAD_BYTES,
  });
}

/** What a handler was told of an answer. */
export interface Outcome {
  status: number | null;
  headers: object | null;
  body: string;
  /** `ended`, or that it was refused or broken off. */
  end: 'ended' | 'failed';
  code: string;
}

export interface Asking {
  body?: unknown;
  headers?: string[];
  onStart?(controller: Dispatcher.DispatchController): void;
  onData?(controller: Dispatcher.DispatchController, bytes: Buffer): void;
  /** Told by our own client only. */
  onSent?(): void;
}

/** Sends a POST and collects what its handler is told, in Latin-1. */
export function ask(
  client: Client,
  origin: string,
  { body = Buffer.from('{}'), headers = [], onData, onSent, onStart }: Asking = {},
): Promise<Outcome> {
  return new Promise((resolve) => {
    const outcome: Outcome = { status: null, headers: null, body: '', end: 'failed', code: '' };
    client.dispatch(
      { origin, path: '/v1/x', method: 'POST', headers, body: body as Buffer },
      {
        onRequestStart: (controller) => onStart?.(controller),
        onRequestSent: () => onSent?.(),
        onResponseStart(_, status, received) {
          if (status < 200) return;
          outcome.status = status;
          outcome.headers = { ...received };
        },
        onResponseData(controller, bytes) {
          outcome.body += bytes.toString('latin1');
          onData?.(controller, bytes);
        },
        onResponseEnd: () => resolve({ ...outcome, end: 'ended' }),
        onResponseError: (_, error) =>
          resolve({ ...outcome, code: (error as NodeJS.ErrnoException).code ?? error.message }),
      },
    );
  });
}

/** A server of bytes. */
export interface RawServer {
  origin: string;
  /** What it does with each connection, of which it says the how many-th it is. */
  behave(handler: (socket: Socket, number: number) => void): void;
  /** Connections since `behave` was called. */
  sockets(): number;
  close(): Promise<void>;
}

export async function startRawServer(): Promise<RawServer> {
  let handler: (socket: Socket, number: number) => void = () => {};
  let sockets = 0;
  const open = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets += 1;
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => socket.destroy());
    handler(socket, sockets);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    behave(next) {
      handler = next;
      sockets = 0;
    },
    sockets: () => sockets,
    close() {
      for (const socket of open) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** Resolves when sockets have been read from: that is done between two turns that are asked for one inside the other. */
function polled(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}

/** Answers the first request of a connection with pieces, which are read one by one, and ends it. */
export function answerInPieces(pieces: readonly string[]): (socket: Socket) => void {
  return (socket) => {
    socket.once('data', async () => {
      for (const piece of pieces) {
        if (!socket.writable) return;
        socket.write(piece, 'latin1');
        if (pieces.length > 1) await polled();
      }
      socket.end();
    });
  };
}
