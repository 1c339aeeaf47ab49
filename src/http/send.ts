import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';
import { STATUS_CODES } from './node-http.ts';
import type { Outlet } from './outlet.ts';

/** How much of an unread request body is discarded so that its sender gets to read the answer, and for how long. */
const LINGER_BYTES = 8 * 1024 * 1024;
const LINGER_MS = 5000;
/** How long a refused raw socket may take to read its answer before it is destroyed. */
const REFUSED_SOCKET_MS = 1000;

/**
 * Answers with `body` as JSON and the exchange's id. A HEAD request gets the headers alone. `headers` win over the
 * defaults (`application/json; charset=utf-8`, `no-store`).
 *
 * When the request body was not read to its end the connection is closed, but not before the sender had a chance
 * to see the answer: closing a socket with unread bytes resets it and can take the answer along (RFC 9112, 9.6).
 */
export function sendJson(
  { id, response }: { id: string; response: Outlet },
  status: number,
  body: object,
  headers?: OutgoingHttpHeaders,
): void {
  const payload = Buffer.from(JSON.stringify(body));
  const { req: request } = response;
  const lingers = request !== undefined && mustLinger(request);
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': payload.length,
    'cache-control': 'no-store',
    'x-request-id': id,
    ...headers,
    ...(lingers ? { connection: 'close' } : {}),
  });
  if (request?.method === 'HEAD') response.end();
  else if (lingers) endAfterDiscarding(response, request, payload);
  else response.end(payload);
}

/** True when more of the body may be coming than Node's own quiet discarding should read on a kept connection. */
function mustLinger(request: IncomingMessage): boolean {
  if (request.complete || request.destroyed) return false;
  const declared = request.headers['content-length'];
  if (declared !== undefined) return Number(declared) > LINGER_BYTES;
  return request.headers['transfer-encoding'] !== undefined;
}

/** Sends the whole answer at once, then reads what still arrives, within bounds, before the response ends. */
function endAfterDiscarding(response: Outlet, request: IncomingMessage, payload: Buffer): void {
  let discarded = 0;
  const end = () => {
    clearTimeout(timer);
    request.off('data', onData);
    if (!response.writableEnded) response.end();
  };
  const onData = (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > LINGER_BYTES) end();
  };
  const timer = setTimeout(end, LINGER_MS);
  request.once('end', end);
  request.once('close', end);
  response.on('close', end);
  response.write(payload);
  request.on('data', onData);
  request.resume();
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
