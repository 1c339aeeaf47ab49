import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, Server } from 'node:http';
import type { Socket } from 'node:net';
import { GatewayError } from '../../lib/error.ts';
import { newId } from '../../lib/id.ts';
import { behindPreface, type ParseError } from '../http2/prior-knowledge.ts';
import type { ServerSink } from '../response-sink.ts';
import { sendRaw } from '../send.ts';

export interface RenderedError {
  status: number;
  body: object;
  headers?: OutgoingHttpHeaders;
}

export interface RefusalOptions {
  /** Sizes in bytes, times in milliseconds. */
  limits: { headerBytes: number; headersTimeoutMs: number; bodyTimeoutMs: number; bodyBytes: number };
  /** What a failure looks like to a client of `path`; `id` is the request's, `received` its headers, if known. */
  renderError(error: GatewayError, path: string, id: string, received?: IncomingHttpHeaders): RenderedError;
  /** Milliseconds since the epoch. */
  now?(): number;
}

interface OpenRequest {
  request: IncomingMessage;
  response: ServerSink;
  id: string;
  path: string;
}

/** Takes a connection that speaks HTTP/2 from its first byte on, with the bytes after the preface. */
type TakeOver = (socket: Socket, behindPreface: Buffer) => void;

/** Answers requests that Node's parser or timeouts gave up on, where the socket can still carry an answer. */
export function refuseBrokenRequests(
  server: Server,
  options: RefusalOptions,
  open: { members(): OpenRequest[] },
  takeOver: TakeOver | null = null,
): void {
  const settled = new WeakSet<Socket>();
  server.on('clientError', (cause: ParseError, socket: Socket) => {
    // The parser reports again for every further packet of a request that was refused, and when its time is over.
    if (settled.has(socket)) return;
    settled.add(socket);
    const behind = takeOver === null || socket.bytesWritten > 0 ? null : behindPreface(cause);
    const exchanges = open.members().filter(({ request }) => request.socket === socket);
    if (behind !== null && exchanges.length === 0) {
      takeOver?.(socket, behind);
      return;
    }
    const exchange = exchanges[0];
    const hasSentNothing = socket.bytesRead === 0;
    const isAnswered = exchanges.length > 1 || exchange?.response.headersSent || exchange?.request.complete;
    if (!socket.writable || hasGone(cause) || hasSentNothing || isAnswered) {
      socket.destroy();
      return;
    }
    const error = errorOf(cause, options);
    const id = exchange?.id ?? newId('req', options.now?.());
    const head = exchange === undefined ? readHead(cause.rawPacket) : null;
    const rendered = options.renderError(
      error,
      exchange?.path ?? head?.path ?? '/',
      id,
      exchange?.request.headers ?? head?.headers,
    );
    const headers = { ...rendered.headers, 'x-request-id': id };
    sendRaw(socket, rendered.status, rendered.body, headers);
    // The reader of the body gets the reason before Node emits that the connection closed.
    if (exchange) socket.prependOnceListener('close', () => exchange.request.destroy(error));
  });
}

/** The peer reset the connection, or closed it in the middle of a request. */
function hasGone(cause: ParseError): boolean {
  return cause.code === 'ECONNRESET' || cause.code === 'HPE_INVALID_EOF_STATE';
}

function errorOf(cause: ParseError, { limits }: RefusalOptions): GatewayError {
  switch (cause.code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new GatewayError(
        'request_timeout',
        `the request was not complete in time: its headers may take ${limits.headersTimeoutMs} ms, all of it ${limits.bodyTimeoutMs} ms`,
      );
    case 'HPE_HEADER_OVERFLOW':
      return headTooLarge(limits.headerBytes);
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new GatewayError('request_too_large', 'the chunk extensions of the request body are too long');
    default:
      return new GatewayError(
        'invalid_request',
        `not a valid HTTP request: ${cause.reason ?? cause.message}`,
      );
  }
}

/** What one read of a socket brings at most. */
const READ_BYTES = 65_536;

/**
 * How many bytes of a head Node's parser may take. The line with the path is known as long as it came with the same read,
 * and from then on only once the head is whole: such heads may be one read larger, and are refused when they are known.
 */
export function parsedHeadBytes(limitBytes: number): number {
  return limitBytes < READ_BYTES ? limitBytes : limitBytes + READ_BYTES;
}

/** @throws GatewayError `headers_too_large` */
export function refuseLargeHead({ rawHeaders, url }: IncomingMessage, limitBytes: number): void {
  let bytes = url?.length ?? 0;
  for (const text of rawHeaders) bytes += text.length + 2;
  if (bytes > limitBytes) throw headTooLarge(limitBytes);
}

/** `uri-host [ ":" port ]` (RFC 9112, 3.2, and RFC 3986, 3.2.2), as far as it can be checked character by character. */
const HOST = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~!$&'()*+,;=%-]*)(?::[0-9]*)?$/;

/**
 * Refuses an HTTP/1.1 request without a `Host` header, and any request with more than one or an invalid one (RFC 9112,
 * 3.2): proxies and servers that read different ones are led to different sites.
 * @throws GatewayError `invalid_request`
 */
export function refuseInvalidHost({ httpVersionMinor, rawHeaders }: IncomingMessage): void {
  let host: string | null = null;
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (name.length !== 4 || name.toLowerCase() !== 'host') continue;
    if (host !== null) throw invalidHost('the request has more than one Host header: send one');
    host = rawHeaders[index + 1] ?? '';
  }
  if (host === null) {
    if (httpVersionMinor > 0) throw invalidHost('the request has no Host header: HTTP/1.1 needs one');
  } else if (!HOST.test(host)) throw invalidHost('the Host header is not a host name with an optional port');
}

function invalidHost(message: string): GatewayError {
  return new GatewayError('invalid_request', message, { param: 'host' });
}

function headTooLarge(limitBytes: number): GatewayError {
  return new GatewayError(
    'headers_too_large',
    `the request line and headers together may have at most ${limitBytes} bytes`,
  );
}

/** How far after the request line the headers may be that distinguish clients. */
const HEAD_BYTES = 8192;

/**
 * The path and the first headers of a request that was never parsed, for an error in the right dialect. Null where the
 * packet that was given up on does not begin with a request line: it went by with an earlier one.
 */
function readHead(packet: Buffer | undefined): { path: string; headers: IncomingHttpHeaders } | null {
  const [line = '', ...fields] = packet?.toString('latin1', 0, HEAD_BYTES).split('\r\n') ?? [];
  const path = /^[A-Z]+ (?:https?:\/\/[^/?# ]*)?(\/[^ ?#]*)/.exec(line)?.[1];
  if (path === undefined) return null;
  const headers: IncomingHttpHeaders = {};
  for (const field of fields) {
    const colon = field.indexOf(':');
    if (colon > 0) headers[field.slice(0, colon).toLowerCase()] ??= field.slice(colon + 1).trim();
  }
  return { path, headers };
}
