import type { OutgoingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ArrivingRequest, ResponseSink } from './response-sink.ts';
import { discardBody, mayExceedDiscard } from './server/discard.ts';
import { STATUS_CODES } from './server/node-http.ts';
import { noSniff } from './server/response.ts';

/** How long an unread request body is discarded so that its sender gets to read the answer. */
const LINGER_MS = 5000;
/** How long a refused raw socket may take to read its answer before it is destroyed. */
const REFUSED_SOCKET_MS = 1000;

/**
 * Answers with `body` as JSON and the exchange's id, as `sendWhole` does. `headers` win over the defaults
 * (`application/json; charset=utf-8`, `no-store`).
 */
export function sendJson(
  exchange: { id: string; response: ResponseSink },
  status: number,
  body: object,
  headers?: OutgoingHttpHeaders,
): void {
  sendWhole(exchange, status, JSON.stringify(body), {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    ...headers,
  });
}

/**
 * Answers with text or bytes, or with none where it is null, and the exchange's id. A HEAD request gets the headers alone.
 *
 * When the request body was not read to its end the connection is closed, but not before the sender had a chance
 * to see the answer: closing a socket with unread bytes resets it and can take the answer along (RFC 9112, 9.6).
 */
export function sendWhole(
  { id, response }: { id: string; response: ResponseSink },
  status: number,
  content: string | Uint8Array | null,
  headers: OutgoingHttpHeaders,
): void {
  const payload = typeof content === 'string' ? Buffer.from(content) : Buffer.from(content ?? []);
  const { req: request } = response;
  const lingers = request !== undefined && mayExceedDiscard(request);
  response.writeHead(status, {
    ...(content === null ? {} : { 'content-length': payload.length }),
    'x-request-id': id,
    ...headers,
    ...(lingers ? { connection: 'close' } : {}),
  });
  if (lingers) endAfterDiscarding(response, request, request.method === 'HEAD' ? null : payload);
  else if (request?.method === 'HEAD' || payload.length === 0) response.end();
  else response.end(payload);
}

/** Sends the whole answer at once, then reads what still arrives, within bounds, before the response ends. */
function endAfterDiscarding(response: ResponseSink, request: ArrivingRequest, payload: Buffer | null): void {
  const end = () => {
    clearTimeout(timer);
    if (!response.writableEnded) response.end();
  };
  const timer = setTimeout(end, LINGER_MS);
  response.on('close', end);
  if (payload === null) response.flushHeaders();
  else response.write(payload);
  discardBody(request, end);
}

/**
 * Answers an upgrade request with an ordinary JSON response (426, 401, 404 …) and closes its socket.
 * The socket must not have been written to.
 */
export function refuseUpgrade(
  socket: Duplex,
  status: number,
  body: object,
  headers?: OutgoingHttpHeaders,
): void {
  sendRaw(socket, status, body, headers);
}

/** Writes a whole HTTP/1.1 response to a socket that has no ServerResponse, then closes it. */
export function sendRaw(
  socket: Duplex,
  status: number,
  body: object,
  headers: OutgoingHttpHeaders = {},
): void {
  const payload = JSON.stringify(body);
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unknown'}\r\n`;
  const fields: OutgoingHttpHeaders = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(payload),
    'cache-control': 'no-store',
    ...noSniff,
    date: new Date().toUTCString(),
    ...headers,
    connection: 'close',
  };
  for (const [name, value] of Object.entries(fields)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== undefined) head += `${name}: ${String(item).replace(/[\r\n]+/g, ' ')}\r\n`;
    }
  }
  const timer = setTimeout(() => socket.destroy(), REFUSED_SOCKET_MS);
  socket.once('close', () => clearTimeout(timer));
  socket.end(`${head}\r\n${payload}`);
  socket.resume();
}
