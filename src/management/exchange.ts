import { clientAddress } from '../access/forwarded.ts';
import { readBody } from '../http/body.ts';
import type { Exchange } from '../http/server.ts';
import { GatewayError } from '../lib/error.ts';
import type { ManagementContext } from './context.ts';

/** A body of the management API is a small document. */
const MAX_BODY_BYTES = 1_048_576;
const utf8 = new TextDecoder('utf-8', { fatal: true });

export function facts(
  { trusted }: Pick<ManagementContext, 'trusted'>,
  { id, request }: Exchange,
): { requestId: string; address: string } {
  const { headers, socket } = request;
  return { requestId: id, address: clientAddress(socket.remoteAddress ?? '', headers, trusted) };
}

/** The body as JSON whatever its content type says, for clients that set none; undefined for none. */
export async function jsonBody(exchange: Exchange): Promise<unknown> {
  const { method } = exchange.request;
  if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS') return undefined;
  const bytes = Buffer.concat(await readBody(exchange.request, { limitBytes: MAX_BODY_BYTES }));
  if (bytes.length === 0) return undefined;
  try {
    return JSON.parse(utf8.decode(bytes), onlyText) as unknown;
  } catch {
    throw new GatewayError('invalid_json', 'The request body is not valid JSON in UTF-8');
  }
}

/** Halves of characters (lone surrogates) cannot be stored, and would come back as other text. */
function onlyText(name: string, value: unknown): unknown {
  if (!name.isWellFormed() || (typeof value === 'string' && !value.isWellFormed()))
    throw new SyntaxError('half a character');
  return value;
}

export function notAllowed(method: string): GatewayError {
  return new GatewayError('method_not_allowed', `${method} is not served here`);
}
