import { clientAddress } from '../access/forwarded.ts';
import { readBody } from '../http/body/body.ts';
import type { AnyExchange } from '../http/exchange.ts';
import type { Caller } from '../http/resource.ts';
import type { Exchange } from '../http/server/server.ts';
import { GatewayError } from '../lib/error.ts';
import type { ManagementContext } from './context.ts';
import { faultOfJsonText } from './json-text.ts';

/** A body of the management API is a small document, in bytes. */
const MAX_BODY_BYTES = 1_048_576;
/** For callers that may change little, and for those that have not logged in. */
const MAX_VIEWER_BODY_BYTES = 65_536;
const MAX_STRANGER_BODY_BYTES = 16_384;
/** How long a stranger's body may take. */
const STRANGER_BODY_MS = 5_000;
const utf8 = new TextDecoder('utf-8', { fatal: true });

export function requestFacts(
  { trusted }: Pick<ManagementContext, 'trusted'>,
  { id, request }: Pick<AnyExchange, 'id' | 'request'>,
): { requestId: string; address: string } {
  const { headers, socket } = request;
  return { requestId: id, address: clientAddress(socket.remoteAddress ?? '', headers, trusted) };
}

/** The body as JSON whatever its content type says, for clients that set none; undefined for none. */
export async function jsonBody(exchange: Exchange, caller: Pick<Caller, 'role'>): Promise<unknown> {
  return jsonOf(await bodyBytes(exchange, caller));
}

/**
 * The body as it came, decompressed; empty for methods that have none.
 * @param mostBytes what may be sent by those who may change something
 * @throws GatewayError `request_too_large`
 */
export async function bodyBytes(
  { request }: Exchange,
  { role }: Pick<Caller, 'role'>,
  mostBytes: number = MAX_BODY_BYTES,
): Promise<Buffer> {
  const { method } = request;
  if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS') return Buffer.alloc(0);
  const limitBytes = role === 'viewer' ? MAX_VIEWER_BODY_BYTES : mostBytes;
  return Buffer.concat(await readBody(request, { limitBytes }));
}

/**
 * The body of a client that has not logged in, as JSON: small, as it is, and soon, so that it costs nothing to keep
 * many of them waiting.
 */
export async function unauthenticatedBody({ request }: Exchange): Promise<unknown> {
  const { 'content-encoding': coding = 'identity', 'content-length': length } = request.headers;
  if (coding.trim().toLowerCase() !== 'identity')
    throw new GatewayError('unsupported_encoding', 'Send this body without content-encoding', {
      param: 'content-encoding',
    });
  if (length === undefined && request.headers['transfer-encoding'] !== undefined)
    throw new GatewayError('invalid_request', 'Send this body with content-length, not in chunks', {
      param: 'content-length',
    });
  const pieces = await readBody(request, {
    limitBytes: MAX_STRANGER_BODY_BYTES,
    timeoutMs: STRANGER_BODY_MS,
  });
  return jsonOf(Buffer.concat(pieces));
}

/** A body as JSON; undefined for none. @throws GatewayError `invalid_json` */
export function jsonOf(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  try {
    const text = utf8.decode(bytes);
    const fault = faultOfJsonText(text);
    if (fault !== null) throw new SyntaxError(fault);
    return JSON.parse(text) as unknown;
  } catch {
    throw new GatewayError('invalid_json', 'The request body is not valid JSON in UTF-8');
  }
}

export function notAllowed(method: string): GatewayError {
  return new GatewayError('method_not_allowed', `${method} is not served here`);
}
