import { EventEmitter, once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import {
  createWireReader,
  headerOf,
  type RawHeaders,
  readChunked,
  type WireReader,
  writeTo,
} from '../clients/wire.ts';
import { PATIENCE_MS } from '../machine/patience.ts';
import { json, type Step, type Turn } from './steps.ts';

/** One request as the upstream saw it. Times are `performance.now()`. */
export interface SeenRequest {
  method: string;
  /** Path and query. */
  path: string;
  headers: RawHeaders;
  /** What it came on. */
  socket: Socket;
  header(name: string): string | undefined;
  /** The head as sent. */
  rawHead: Buffer;
  /** Known once `whole` is resolved. */
  body: Buffer;
  whole: Promise<Buffer>;
  /** When the head was complete. */
  arrivedAt: number;
  /** Number of its connection, from 0. */
  connection: number;
  /** When its connection was closed, by whichever side; null while it is open. */
  readonly closedAt: number | null;
  closed: Promise<void>;
  /** Bytes of the answer that have left for the kernel. */
  sentBytes(): number;
}

export interface Upstream {
  url: string;
  port: number;
  /** All requests since the last `script` or `always`, in order of arrival. */
  requests: readonly SeenRequest[];
  connections(): number;
  /** Forgets what was seen; the next requests get these answers, one each. */
  script(...answers: (readonly Step[])[]): void;
  /** Forgets what was seen; every request gets this answer. */
  always(...steps: Step[]): void;
  /** Forgets what was seen; every request gets the answer that is chosen for it once its body has arrived. */
  respond(choose: (request: SeenRequest) => readonly Step[]): void;
  /** Waits for the request with this index since the last `script`. */
  request(index?: number): Promise<SeenRequest>;
  /** Closes the idle keep-alive connections. */
  dropConnections(): Promise<void>;
  close(): Promise<void>;
}

type Fallback = (request: SeenRequest) => readonly Step[] | Promise<readonly Step[]>;

interface State {
  queue: (readonly Step[])[];
  fallback: Fallback;
  requests: SeenRequest[];
  sockets: Set<Socket>;
  connections: number;
  /** Emits `request` for each one. */
  arrivals: EventEmitter;
}

const unscripted: readonly Step[] = [
  json(500, { error: { message: 'the test scripted no answer for this' } }),
];

/** An upstream on a bare TCP socket that does what a script says, however wrong that is. */
export async function startUpstream(): Promise<Upstream> {
  const state: State = {
    queue: [],
    fallback: () => unscripted,
    requests: [],
    sockets: new Set(),
    connections: 0,
    arrivals: new EventEmitter().setMaxListeners(0),
  };
  const server = createServer({ noDelay: true }, (socket) => {
    void serve(state, socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no TCP address');
  const reset = (queue: (readonly Step[])[], fallback: Fallback) => {
    state.queue = queue;
    state.fallback = fallback;
    state.requests = [];
  };
  return {
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    get requests() {
      return state.requests;
    },
    connections: () => state.connections,
    script: (...answers) => reset(answers, () => unscripted),
    always: (...steps) => reset([], () => steps),
    respond: (choose) =>
      reset([], async (request) => {
        await request.whole;
        return choose(request);
      }),
    async request(index = 0) {
      const signal = AbortSignal.timeout(PATIENCE_MS);
      for (;;) {
        const seen = state.requests[index];
        if (seen !== undefined) return seen;
        await once(state.arrivals, 'request', { signal }).catch(() => {
          throw new Error(`request ${index} never reached the upstream`);
        });
      }
    },
    async dropConnections() {
      await destroyAll(state.sockets);
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      await destroyAll(state.sockets);
      await closed;
    },
  };
}

async function destroyAll(sockets: ReadonlySet<Socket>): Promise<void> {
  await Promise.all(
    [...sockets].map((socket) => {
      if (socket.closed) return undefined;
      const closed = new Promise((resolve) => socket.once('close', resolve));
      socket.destroy();
      return closed;
    }),
  );
}

async function serve(state: State, socket: Socket): Promise<void> {
  const connection = state.connections;
  state.connections += 1;
  state.sockets.add(socket);
  socket.on('close', () => state.sockets.delete(socket));
  const reader = createWireReader(socket);
  const closing = closingOf(socket);
  while (!reader.ended()) {
    const seen = await readRequest(reader, { socket, connection, closing });
    if (seen === null) break;
    state.requests.push(seen);
    const scripted = state.queue.shift();
    state.arrivals.emit('request');
    const steps = scripted ?? (await state.fallback(seen));
    const turn: Turn = {
      request: seen,
      socket,
      write: (bytes) => writeTo(socket, bytes),
    };
    for (const step of steps) {
      if (socket.destroyed) break;
      await step(turn);
    }
    await Promise.race([seen.whole, seen.closed]);
    if (!socket.writable) break;
  }
}

interface Closing {
  at: number | null;
  closed: Promise<void>;
}

/** Heard once for a connection, however many requests it carries. */
function closingOf(socket: Socket): Closing {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const closing: Closing = { at: null, closed };
  const note = () => {
    closing.at ??= performance.now();
    resolve();
  };
  for (const event of ['end', 'error', 'close']) socket.once(event, note);
  return closing;
}

async function readRequest(
  reader: WireReader,
  { socket, connection, closing }: { socket: Socket; connection: number; closing: Closing },
): Promise<SeenRequest | null> {
  const head = await reader.head();
  if (head === null) return null;
  const [method = '', path = ''] = head.startLine.split(' ');
  const sentBefore = socket.bytesWritten;
  const seen: SeenRequest = {
    method,
    path,
    headers: head.headers,
    socket,
    header: (name) => headerOf(head.headers, name),
    rawHead: head.raw,
    body: Buffer.alloc(0),
    whole: Promise.resolve(Buffer.alloc(0)),
    arrivedAt: performance.now(),
    connection,
    get closedAt() {
      return closing.at;
    },
    closed: closing.closed,
    sentBytes: () => socket.bytesWritten - sentBefore - socket.writableLength,
  };
  seen.whole = readBody(reader, head.headers).then((body) => {
    seen.body = body;
    return body;
  });
  return seen;
}

async function readBody(reader: WireReader, headers: RawHeaders): Promise<Buffer> {
  if (headerOf(headers, 'transfer-encoding') !== undefined) {
    const chunks: Buffer[] = [];
    await readChunked(reader, (chunk) => chunks.push(chunk));
    return Buffer.concat(chunks);
  }
  const length = Number(headerOf(headers, 'content-length') ?? 0);
  return (await reader.take(length)) ?? Buffer.alloc(0);
}
