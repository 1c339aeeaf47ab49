import type { Agent, ClientRequest, IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { GatewayError } from '../../lib/error.ts';
import { detach, PREFACE } from '../http2/prior-knowledge.ts';
import type { ServerSink } from '../response-sink.ts';
import { Agent as HttpAgent, request as httpRequest } from './node-http.ts';
import { proxyHeader } from './proxy-header.ts';
import { resetConnection } from './reset.ts';

/** Passes requests and whole connections on to another process of this gateway, which listens on a Unix socket. */
export interface Forwarder {
  /**
   * Forwards a request, and its answer back, byte by byte; does nothing if its client has gone.
   * @param body the body, where it was read already, without any encoding; null to pass on what comes
   * @throws GatewayError `shutting_down` when the other process does not answer
   */
  forward(exchange: ForwardedExchange, body: readonly Buffer[] | null): Promise<void>;
  /** Passes on a connection that asks for an upgrade. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Passes on a connection that speaks HTTP/2. */
  takeOver(socket: Socket, behindPreface: Buffer): void;
  /** Requests that are passed on and not answered. */
  open(): number;
  /** Resolves once nothing is open that was passed on, and at the latest after so many milliseconds. */
  ended(ms: number): Promise<void>;
  /** Ends all that is open. */
  close(): void;
}

export interface ForwardedExchange {
  request: IncomingMessage;
  response: ServerSink;
}

/** What speaks for one connection (RFC 9110, 7.6.1), and what was answered here already. */
const notForwarded = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** @param path of the other process's Unix socket */
export function createForwarder(path: string): Forwarder {
  /** One for each client, since the other process identifies a client by the connection. */
  const agents = new WeakMap<Duplex, Agent>();
  const open = new Set<ClientRequest>();
  const spliced = new Set<Duplex>();
  let onEnded = (): void => {};
  const nothingOpen = (): boolean => open.size === 0 && spliced.size === 0;
  const forget = <T>(all: Set<T>, one: T): void => {
    all.delete(one);
    if (nothingOpen()) onEnded();
  };

  const connectFor = (client: Duplex): Socket => {
    const socket = connect(path);
    // An upgraded or ordinary connection of this server is a TCP socket.
    socket.write(proxyHeader(client as Socket));
    return socket;
  };
  const agentOf = (client: Duplex): Agent => {
    const existing = agents.get(client);
    if (existing !== undefined) return existing;
    const agent = new HttpAgent({ keepAlive: true });
    agent.createConnection = () => connectFor(client);
    agents.set(client, agent);
    client.once('close', () => agent.destroy());
    return agent;
  };
  const splice = (client: Duplex, first: readonly (Buffer | string)[]): void => {
    if (client.destroyed) return;
    const other = connectFor(client);
    spliced.add(client);
    const end = () => {
      forget(spliced, client);
      client.destroy();
      other.destroy();
    };
    client.on('error', end);
    other.on('error', end);
    client.once('close', end);
    other.once('close', end);
    for (const piece of first) other.write(piece);
    client.pipe(other);
    other.pipe(client);
  };

  return {
    open: () => open.size,
    async ended(ms) {
      if (nothingOpen()) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      onEnded = resolve;
      const timer = setTimeout(resolve, ms);
      await promise;
      clearTimeout(timer);
    },
    forward: ({ request, response }, body) =>
      new Promise<void>((resolve, reject) => {
        // Its connection to the other process would have nothing to end with.
        if (request.socket.destroyed) {
          resolve();
          return;
        }
        const outgoing = httpRequest({
          agent: agentOf(request.socket),
          method: request.method ?? 'GET',
          path: request.url ?? '/',
          headers: requestHeaders(request, body),
          setHost: false,
        });
        open.add(outgoing);
        const done = () => {
          forget(open, outgoing);
          resolve();
        };
        response.once('close', () => {
          if (!response.writableFinished) outgoing.destroy();
          done();
        });
        outgoing.on('error', (cause) => {
          if (response.headersSent) resetConnection(response);
          else if (response.destroyed) done();
          else reject(unreachable(cause));
          forget(open, outgoing);
        });
        outgoing.on('response', (answer) => {
          answer.on('error', () => resetConnection(response));
          if (answer.headers.connection === 'close') response.shouldKeepAlive = false;
          response.writeHead(answer.statusCode ?? 502, endToEndHeaders(answer.rawHeaders));
          response.flushHeaders();
          passOn(answer, response);
        });
        if (body === null) request.pipe(outgoing);
        else outgoing.end(Buffer.concat(body));
      }),
    upgrade(request, socket, head) {
      const lines = [`${request.method} ${request.url} HTTP/${request.httpVersion}`];
      for (let index = 0; index + 1 < request.rawHeaders.length; index += 2)
        lines.push(`${request.rawHeaders[index]}: ${request.rawHeaders[index + 1]}`);
      splice(socket, [Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]);
    },
    takeOver(socket, behindPreface) {
      detach(socket);
      splice(socket, [PREFACE, behindPreface]);
    },
    close() {
      for (const one of open) one.destroy();
      for (const one of spliced) one.destroy();
    },
  };
}

function passOn(answer: IncomingMessage, response: ServerSink): void {
  answer.on('data', (bytes: Buffer) => {
    if (!response.write(bytes)) answer.pause();
  });
  response.on('drain', () => answer.resume());
  answer.on('end', () => response.end());
}

/** Methods that Node's client sends without a description of a body that is not there; others it sends in chunks. */
const withoutBody = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT']);

/** Flat, as they came, without those of this connection; those of the body say what is sent on. */
function requestHeaders(request: IncomingMessage, body: readonly Buffer[] | null): string[] {
  const headers = endToEndHeaders(request.rawHeaders);
  // It is sent on in HTTP/1.1, which needs one (RFC 9112, 3.2).
  if (request.httpVersionMinor === 0 && request.headers.host === undefined) headers.push('host', '');
  if (body === null) return [...headers, ...bodyHeaders(request)];
  const length = body.reduce((sum, piece) => sum + piece.length, 0);
  const described = headers.flatMap((name, index) => {
    const isOld = /^content-(?:encoding|length)$/i.test(name);
    return index % 2 === 1 || isOld ? [] : [name, headers[index + 1] ?? ''];
  });
  return [...described, 'content-length', String(length)];
}

/** What has to be added for the body that comes: what comes in chunks is passed on in chunks, and no body as none. */
function bodyHeaders({ headers, method = 'GET' }: IncomingMessage): string[] {
  if (headers['transfer-encoding'] !== undefined) return ['transfer-encoding', 'chunked'];
  const isSaid = headers['content-length'] !== undefined || withoutBody.has(method);
  return isSaid ? [] : ['content-length', '0'];
}

/** Flat headers without those that speak for one connection. */
function endToEndHeaders(rawHeaders: readonly string[]): string[] {
  const headers: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const [name = '', value = ''] = rawHeaders.slice(index, index + 2);
    if (!notForwarded.has(name.toLowerCase())) headers.push(name, value);
  }
  return headers;
}

function unreachable(cause: Error): GatewayError {
  return new GatewayError('shutting_down', 'The gateway is shutting down: send the request again', {
    retryAfter: 5,
    cause,
  });
}
