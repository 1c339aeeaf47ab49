import { chmodSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { GatewayError } from '../../lib/error.ts';
import { newId } from '../../lib/id.ts';
import { createIndexedSet, type IndexedSet } from '../../lib/indexed-set.ts';
import type { AnyExchange } from '../exchange.ts';
import type { Http2Exchange } from '../http2/exchange.ts';
import { createHttp2Connections, type Http2Connections } from '../http2/http2.ts';
import type { ServerSink } from '../response-sink.ts';
import { refuseUpgrade, sendJson, sendRaw } from '../send.ts';
import { type ConnectionLimit, type ConnectionLimitOptions, limitConnections } from './connection-limit.ts';
import { discardRest } from './discard.ts';
import { createDrain } from './drain.ts';
import { createFastPath, type FastPath } from './fast-path/fast-path.ts';
import { createServer } from './node-http.ts';
import { createPipelineLimit } from './pipeline-limit.ts';
import { readProxyHeader } from './proxy-header.ts';
import {
  parsedHeadBytes,
  type RefusalOptions,
  refuseBrokenRequests,
  refuseInvalidHost,
  refuseLargeHead,
} from './refuse.ts';
import { ChunkyRequest } from './request.ts';
import { createRequestIds } from './request-id.ts';
import { resetConnection } from './reset.ts';
import { UnsniffedResponse } from './response.ts';

/** One HTTP/1.1 request and its response, from arrival until the response is closed. */
export interface HttpExchange extends AnyExchange {
  request: IncomingMessage;
  response: ServerSink;
  /** Bytes that were sent on its connection before this request. */
  sentBefore: number;
}

/** An exchange that Node's HTTP server read, with Node's own response. */
export interface Exchange extends HttpExchange {
  response: ServerResponse;
}

export interface HttpServerOptions extends RefusalOptions {
  /** Answers a request. A promise it returns is watched: a rejection is answered like a thrown error. */
  onRequest(exchange: Exchange): unknown;
  /** Requests that are read without Node's HTTP parser (`fast-path/fast-path.ts`). Default: none. */
  fastPath?: {
    /** Whether simple requests to a path are. */
    takes(path: string): boolean;
    /** Answers such a request, as `onRequest` answers all others. */
    onRequest(exchange: HttpExchange): unknown;
  };
  /** Answers a request that came by HTTP/2, as `onRequest` does. Default: connections that begin with HTTP/2 are refused. */
  onHttp2Request?(exchange: Http2Exchange): unknown;
  /** Takes over a connection that begins with HTTP/2, in the place of `onHttp2Request`. */
  onHttp2Connection?(socket: Socket, behindPreface: Buffer): void;
  /** Must answer or destroy the socket, whose errors are already listened to. `head` is what followed the request. */
  onUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, id: string): void;
  /** Called with each exchange once its answer has ended, or its client is gone, after its handlers were called. */
  onClosed?(exchange: HttpExchange): void;
  /** Called with every handler error that is not a GatewayError, and with any error after the headers were sent. */
  onError?(error: unknown, exchange: AnyExchange | null): void;
  /** How many clients may be connected, and which paths are answered beyond that. Default: no limit. */
  connections?: Pick<ConnectionLimitOptions, 'isProbe' | 'max' | 'onCrowded'>;
}

export interface HttpServer {
  /**
   * Starts listening; port 0 picks a free one.
   * @throws the system's error (`EADDRINUSE`, `EACCES` …) with its `code`.
   */
  listen(host: string, port: number): Promise<{ host: string; port: number }>;
  /**
   * Listens on a Unix socket that only this user's processes can connect to, each connection of which begins with a PROXY
   * header that names the client.
   * @throws the system's error with its `code`
   */
  listenForProxies(path: string): Promise<void>;
  /**
   * Stops accepting, closes idle connections and waits until no exchange is open, but at most `ms`.
   * Repeated calls resolve together with the first.
   */
  drain(ms: number): Promise<void>;
  /** How many exchanges are open. */
  inFlight(): number;
  /** The open exchanges, oldest first, for the caller to end what `drain` left over. */
  openExchanges(): Iterable<HttpExchange>;
  /** Ends every connection at once, whatever it carries. */
  close(): Promise<void>;
}

/** Longer than the idle timeout of common load balancers (60 s), so that they are the ones who close. */
const KEEP_ALIVE_MS = 65_000;

/**
 * A server of HTTP/1.1, and of HTTP/2 without TLS on the same port, with limits, ids, errors and draining, independent
 * of what it serves.
 */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { limits, now = Date.now } = options;
  const open = createIndexedSet<HttpExchange>();
  const drain = createDrain({
    size: () => open.size + (http2?.open() ?? 0),
    members: open.members,
    closeIdle,
  });
  const nextId = createRequestIds();

  const pipelines = createPipelineLimit();

  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    if (!pipelines.admit(request, response)) return;
    const exchange: Exchange = exchangeOf(request, response, nextId, now());
    response.once('finish', () => discardRest(request));
    serve(exchange, () => options.onRequest(exchange));
    if (response.socket === null) closeWithSocket(exchange);
  };
  const serve = (exchange: HttpExchange, answer: () => unknown): void => {
    const { request, response } = exchange;
    open.add(exchange);
    response.on('close', () => {
      open.remove(exchange);
      if (options.onClosed !== undefined) process.nextTick(options.onClosed, exchange);
      if (drain.started()) drain.advance();
    });
    if (drain.started() || connections.isBeyond(request.socket)) response.shouldKeepAlive = false;
    try {
      connections.admit(request);
      refuseLargeHead(request, limits.headerBytes);
      refuseInvalidHost(request);
      const result = answer();
      if (result instanceof Promise) result.catch((error: unknown) => fail(options, exchange, error));
    } catch (error) {
      fail(options, exchange, error);
    }
  };

  const server = createServer(
    {
      maxHeaderSize: parsedHeadBytes(limits.headerBytes),
      headersTimeout: Math.min(limits.headersTimeoutMs, limits.bodyTimeoutMs),
      requestTimeout: limits.bodyTimeoutMs,
      connectionsCheckingInterval: checkingInterval(limits),
      keepAliveTimeout: KEEP_ALIVE_MS,
      noDelay: true,
      // Node would answer without a body; `refuseInvalidHost` says what is wrong.
      requireHostHeader: false,
      insecureHTTPParser: false,
      IncomingMessage: ChunkyRequest,
      ServerResponse: UnsniffedResponse,
      // An offer such as `Upgrade: h2c` on an ordinary request may be ignored (RFC 9110, 7.8).
      shouldUpgradeCallback: (request) => request.headers.upgrade?.toLowerCase() === 'websocket',
    },
    handle,
  );
  const fastPath = openFastPath(server, options, (request, response, answer) => {
    const exchange = exchangeOf(request, response, nextId, now());
    serve(exchange, () => answer(exchange));
  });
  function closeIdle(): void {
    server.closeIdleConnections();
    fastPath?.closeIdle();
  }
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    if (!(Number(request.headers['content-length']) > limits.bodyBytes)) continueInTurn(response);
    handle(request, response);
  });
  server.on('checkExpectation', handle);
  const http2 = http2Connections(options, () => {
    if (drain.started()) drain.advance();
  });
  const connections = connectionLimit(server, options, () => [
    ...open.members().map(({ request }) => request.socket),
    ...(http2?.busy() ?? []),
  ]);
  server.on('upgrade', (request, socket, head) => {
    connections.upgraded(socket);
    upgrade(options, connections, { request, socket, head });
  });
  const takeOver = (socket: Socket, behindPreface: Buffer) => {
    if (connections.isBeyond(socket)) socket.destroy();
    else if (options.onHttp2Connection !== undefined) options.onHttp2Connection(socket, behindPreface);
    else http2?.takeOver(socket, behindPreface);
  };
  /** Accepted, and not known to Node's server before their PROXY header was read. */
  const unnamed = new Set<Socket>();
  const takesHttp2 = http2 !== null || options.onHttp2Connection !== undefined;
  refuseBrokenRequests(server, options, open, takesHttp2 ? takeOver : null);

  return {
    listen: (host, port) => listen(server, host, port),
    listenForProxies: (path) => listenForProxies(server, unnamed, path),
    drain(ms) {
      http2?.drain();
      return drain.start(server, ms);
    },
    inFlight: () => open.size + (http2?.open() ?? 0),
    openExchanges: () => open.members().sort((a, b) => a.clock - b.clock),
    close() {
      http2?.close();
      for (const socket of unnamed) socket.destroy();
      return closeAll(server, open, fastPath);
    },
  };
}

/** How often deadlines are checked: a slow connection is closed at most a second late, and sooner where deadlines are short. */
function checkingInterval(limits: HttpServerOptions['limits']): number {
  return Math.max(10, Math.min(1000, limits.headersTimeoutMs >> 2, limits.bodyTimeoutMs >> 2));
}

/** Puts the fast path in front of Node's HTTP server. @returns null where there is none: Node reads every connection */
function openFastPath(
  server: Server,
  { fastPath, limits }: HttpServerOptions,
  serve: (
    request: IncomingMessage,
    response: ServerSink,
    answer: (exchange: HttpExchange) => unknown,
  ) => void,
): FastPath | null {
  if (fastPath === undefined) return null;
  const { onRequest, takes } = fastPath;
  const [readByNode] = server.listeners('connection');
  if (readByNode === undefined) throw new Error('Node reads connections in another way');
  const path = createFastPath({
    limits,
    keepAliveMs: KEEP_ALIVE_MS,
    checkMs: checkingInterval(limits),
    takes,
    onRequest: (request, response) => serve(request, response, onRequest),
    toNode: (socket) => void readByNode.call(server, socket),
    onTimeout: (socket) =>
      server.emit(
        'clientError',
        Object.assign(new Error('timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }),
        socket,
      ),
  });
  server.removeAllListeners('connection');
  server.on('connection', path.accept);
  return path;
}

/**
 * Tells a client to send its body, once all before its answer was sent. Node would put it behind the head of an answer that
 * waits for its turn, where it is a part of the body.
 */
function continueInTurn(response: ServerResponse): void {
  const tell = () => {
    if (!response.headersSent) response.writeContinue();
  };
  if (response.socket === null) response.once('socket', tell);
  else tell();
}

function exchangeOf<Response extends ServerSink>(
  request: IncomingMessage,
  response: Response,
  nextId: (at: number) => string,
  startedAt: number,
): HttpExchange & { response: Response } {
  const target = originForm(request.url ?? '/');
  const mark = target.indexOf('?');
  return {
    slot: -1,
    request,
    response,
    id: nextId(startedAt),
    path: mark === -1 ? target : target.slice(0, mark),
    query: mark === -1 ? '' : target.slice(mark + 1),
    startedAt,
    clock: performance.now(),
    sentBefore: request.socket.bytesWritten,
  };
}

/** Reduces `http://host/path`, which a server must accept (RFC 9112, 3.2.2), to `/path`. */
export function originForm(target: string): string {
  if (target.charCodeAt(0) === 47) return target;
  const origin = /^https?:\/\/[^/?#]*/i.exec(target)?.[0];
  if (origin === undefined) return target;
  const rest = target.slice(origin.length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/**
 * Some releases of Node tell a response that its socket closed only if it was that response's turn. One that waits
 * behind an earlier, pipelined request is notified here unless Node did.
 */
function closeWithSocket({ request, response }: Exchange): void {
  const onClose = () => {
    setImmediate(() => {
      if (!response.closed) response.emit('close');
    });
  };
  request.socket.once('close', onClose);
  response.once('close', () => request.socket.off('close', onClose));
}

/** Answers an error that a handler did not catch: with one rendered error, or with a reset if an answer has begun. */
function fail(options: HttpServerOptions, exchange: HttpExchange, cause: unknown): void {
  const { id, path, response } = exchange;
  if (!(cause instanceof GatewayError) || response.headersSent) options.onError?.(cause, exchange);
  if (response.headersSent) {
    resetConnection(response);
    return;
  }
  const error =
    cause instanceof GatewayError
      ? cause
      : new GatewayError('internal_error', 'the gateway failed to answer; its log has the cause', { cause });
  try {
    const rendered = options.renderError(error, path, id, exchange.request.headers);
    if (response instanceof UnsniffedResponse)
      for (const name of response.getHeaderNames()) response.removeHeader(name);
    sendJson(exchange, rendered.status, rendered.body, rendered.headers);
  } catch (renderFailure) {
    options.onError?.(renderFailure, exchange);
    response.destroy();
  }
}

/** Refusals of connections that sent nothing yet are in the shape that most clients expect. */
function connectionLimit(
  server: Server,
  options: HttpServerOptions,
  busy: ConnectionLimitOptions['busy'],
): ConnectionLimit {
  const { connections = { max: Number.MAX_SAFE_INTEGER, isProbe: () => false } } = options;
  return limitConnections(server, {
    ...connections,
    busy,
    refuse(socket, error) {
      const id = newId('req', options.now?.());
      const { body, headers, status } = options.renderError(error, '/', id);
      sendRaw(socket, status, body, { ...headers, 'x-request-id': id });
    },
  });
}

/** Null where HTTP/2 is not served. */
function http2Connections(options: HttpServerOptions, onEnd: () => void): Http2Connections | null {
  const { limits, now, onError = () => {}, onHttp2Request, renderError } = options;
  if (onHttp2Request === undefined) return null;
  return createHttp2Connections({
    limits,
    renderError,
    ...(now === undefined ? {} : { now }),
    onRequest: onHttp2Request,
    onError,
    onLoadError: (error) => onError(error, null),
    idleMs: KEEP_ALIVE_MS,
    onEnd,
  });
}

interface Upgrade {
  request: IncomingMessage;
  socket: Duplex;
  head: Buffer;
}

function upgrade(
  options: HttpServerOptions,
  connections: ConnectionLimit,
  { request, socket, head }: Upgrade,
): void {
  // A peer that goes away during the refusal is no failure of ours.
  socket.on('error', () => socket.destroy());
  const id = newId('req', options.now?.());
  try {
    connections.admit(request);
    refuseLargeHead(request, options.limits.headerBytes);
    refuseInvalidHost(request);
    options.onUpgrade(request, socket, head, id);
  } catch (error) {
    if (error instanceof GatewayError) {
      const [path = '/'] = originForm(request.url ?? '/').split('?', 1);
      const rendered = options.renderError(error, path, id, request.headers);
      refuseUpgrade(socket, rendered.status, rendered.body, { ...rendered.headers, 'x-request-id': id });
      return;
    }
    options.onError?.(error, null);
    socket.destroy();
  }
}

async function closeAll(
  server: Server,
  open: IndexedSet<HttpExchange>,
  fastPath: FastPath | null,
): Promise<void> {
  const closed = open
    .members()
    .map(({ response }) => new Promise<void>((resolve) => response.once('close', resolve)));
  closed.push(new Promise((resolve) => server.close(() => resolve())));
  // An answer that is cut here must not look as if it had ended.
  for (const { response } of open.members())
    if (response.headersSent && !response.writableEnded) response.socket?.resetAndDestroy();
  server.closeAllConnections();
  fastPath?.close();
  await Promise.all(closed);
}

function listenForProxies(server: Server, unnamed: Set<Socket>, path: string): Promise<void> {
  const accepting = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    const forget = () => unnamed.delete(socket);
    unnamed.add(socket);
    socket.once('close', forget);
    readProxyHeader(socket, () => {
      socket.off('close', forget);
      forget();
      for (const accept of accepting) accept.call(server, socket);
    });
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    const listening = () => {
      server.off('error', reject);
      chmodSync(path, 0o600);
      resolve();
    };
    // Node binds before `listen` returns: no other user may connect between that and `chmod`. Files that other threads
    // make in this moment are this user's alone too, and their folders can be opened.
    const mask = process.umask(0o077);
    try {
      server.listen(path, listening);
    } finally {
      process.umask(mask);
    }
  });
}

function listen(server: Server, host: string, port: number): Promise<{ host: string; port: number }> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host.replace(/^\[(.*)\]$/, '$1'), () => {
      server.off('error', reject);
      // A listening TCP server has an AddressInfo; a string would be a pipe's.
      const address = server.address() as AddressInfo;
      resolve({ host, port: address.port });
    });
  });
}
