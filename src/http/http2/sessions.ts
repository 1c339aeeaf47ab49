import { constants, createServer, type Http2ServerRequest, type ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { GatewayError } from '../../lib/error.ts';
import { createIndexedSet } from '../../lib/indexed-set.ts';
import { sendJson } from '../send.ts';
import type { RefusalOptions } from '../server/refuse.ts';
import { createRequestIds } from '../server/request-id.ts';
import { noSniff } from '../server/response.ts';
import { type Http2Exchange, type Http2Response, plainHeaders } from './exchange.ts';
import { restorePreface } from './prior-knowledge.ts';

export interface SessionsInput extends RefusalOptions {
  /** Answers a request. A promise it returns is watched: a rejection is answered like a thrown error. */
  onRequest(exchange: Http2Exchange): unknown;
  /** Called with every handler error that is not a GatewayError, and of any error after the headers were sent. */
  onError(error: unknown, exchange: Http2Exchange): void;
  /** How long a connection may be without a request after its last one. */
  idleMs: number;
  /** Called when an exchange has ended. */
  onEnd(): void;
}

/** The connections that speak HTTP/2. */
export interface Http2Sessions {
  /** Serves a connection whose preface was taken from it. */
  accept(socket: Socket, behindPreface: Buffer): void;
  /** How many exchanges are open. */
  open(): number;
  /** The sockets of the requests that are being answered. */
  busy(): Iterable<Duplex>;
  /** Accepts no more requests; open ones continue. */
  drain(): void;
  /** Ends every connection at once. */
  close(): void;
}

/** As many as gRPC's own servers allow. */
const MOST_STREAMS = 100;
/** How often a client with an open stream is asked whether it is still there, and how long it may take to answer. */
const PING_MS = 30_000;

interface Session {
  readonly socket: Socket;
  streams: number;
  /** Ends a session without requests. */
  idle: NodeJS.Timeout;
}

export function createHttp2Sessions(input: SessionsInput): Http2Sessions {
  const { idleMs, limits, now = Date.now, onEnd } = input;
  const sessions = new Map<ServerHttp2Session, Session>();
  /** The connection whose session is about to begin. */
  let beginning: Socket | null = null;
  const open = createIndexedSet<Http2Exchange>();
  const nextId = createRequestIds();
  let draining = false;
  const drain = () => {
    draining = true;
    for (const session of sessions.keys()) session.close();
  };

  const server = createServer({
    settings: { maxConcurrentStreams: MOST_STREAMS, maxHeaderListSize: limits.headerBytes },
    maxSendHeaderBlockLength: limits.headerBytes,
  });
  server.on('session', (session) => {
    if (beginning === null) return session.destroy();
    const idle = setTimeout(() => session.destroy(), limits.headersTimeoutMs).unref();
    const pinging = setInterval(() => askWhetherThere(session), PING_MS).unref();
    sessions.set(session, { socket: beginning, streams: 0, idle });
    session.on('close', () => {
      clearTimeout(sessions.get(session)?.idle);
      clearInterval(pinging);
      sessions.delete(session);
    });
  });
  server.on('request', (request, response) => {
    const session = request.stream.session;
    const entry = session === undefined ? undefined : sessions.get(session as ServerHttp2Session);
    if (session === undefined || entry === undefined) return request.stream.close(constants.NGHTTP2_CANCEL);
    entry.streams += 1;
    clearTimeout(entry.idle);
    const exchange = exchangeOf(request, response as Http2Response, nextId(now()), now());
    open.add(exchange);
    const slowBody = setTimeout(() => {
      if (!request.complete) request.stream.close(constants.NGHTTP2_CANCEL);
    }, limits.bodyTimeoutMs).unref();
    response.on('close', () => {
      clearTimeout(slowBody);
      open.remove(exchange);
      entry.streams -= 1;
      if (entry.streams === 0 && !session.destroyed)
        entry.idle = setTimeout(() => session.close(), idleMs).unref();
      onEnd();
    });
    response.setHeader(...noSniffHeader);
    answer(input, exchange);
  });

  return {
    accept(socket, behindPreface) {
      if (socket.destroyed) return;
      restorePreface(socket, behindPreface);
      beginning = socket;
      server.emit('connection', socket);
      beginning = null;
      if (draining) drain();
    },
    open: () => open.size,
    *busy() {
      for (const { socket, streams } of sessions.values()) if (streams > 0) yield socket;
    },
    drain,
    close() {
      draining = true;
      for (const session of sessions.keys()) session.destroy();
    },
  };
}

const [noSniffHeader] = Object.entries(noSniff) as [[string, string]];

function exchangeOf(
  request: Http2ServerRequest,
  response: Http2Response,
  id: string,
  startedAt: number,
): Http2Exchange {
  Object.defineProperty(request, 'rawHeaders', { value: plainHeaders(request.rawHeaders) });
  const { url } = request;
  const mark = url.indexOf('?');
  return {
    slot: -1,
    request,
    response,
    id,
    path: mark === -1 ? url : url.slice(0, mark),
    query: mark === -1 ? '' : url.slice(mark + 1),
    startedAt,
    clock: performance.now(),
  };
}

function answer(input: SessionsInput, exchange: Http2Exchange): void {
  try {
    const result = input.onRequest(exchange);
    if (result instanceof Promise) result.catch((error: unknown) => fail(input, exchange, error));
  } catch (error) {
    fail(input, exchange, error);
  }
}

/** What a handler did not catch: one rendered error, or a reset of the stream when an answer has begun. */
function fail({ onError, renderError }: SessionsInput, exchange: Http2Exchange, cause: unknown): void {
  const { id, path, request, response } = exchange;
  if (!(cause instanceof GatewayError) || response.headersSent) onError(cause, exchange);
  if (response.headersSent) {
    // `close` could end the answer as if it were whole.
    request.stream.destroy(new Error('the answer was interrupted', { cause }));
    return;
  }
  const error =
    cause instanceof GatewayError
      ? cause
      : new GatewayError('internal_error', 'the gateway failed to answer; its log has the cause', { cause });
  const rendered = renderError(error, path, id, request.headers);
  sendJson(exchange, rendered.status, rendered.body, rendered.headers);
}

/** A client that disappears without closing would keep its streams forever. */
function askWhetherThere(session: ServerHttp2Session): void {
  const destroyTimer = setTimeout(() => session.destroy(), PING_MS).unref();
  const pingSent = !session.destroyed && session.ping(() => clearTimeout(destroyTimer));
  if (!pingSent) clearTimeout(destroyTimer);
}
