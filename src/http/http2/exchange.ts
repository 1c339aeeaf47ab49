import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { AnyExchange } from '../exchange.ts';
import type { ResponseSink } from '../response-sink.ts';

/** One request over HTTP/2 and its response. Its `rawHeaders` are those that it would have had over HTTP/1.1. */
export interface Http2Exchange extends AnyExchange {
  request: Http2ServerRequest;
  response: Http2Response;
}

/** Node's, with a function that its types do not have. */
export type Http2Response = Http2ServerResponse & Pick<ResponseSink, 'flushHeaders'>;

/**
 * Headers without the pseudo-headers, where `:authority` becomes `Host` (RFC 9113, 8.3.1), so that code that judges a
 * request by its headers need not distinguish versions of HTTP. One that names two different hosts has both.
 * @param rawHeaders names and values in turn
 */
export function plainHeaders(rawHeaders: readonly string[]): string[] {
  const plain: string[] = [];
  let authority: string | null = null;
  let repeated = false;
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    const value = rawHeaders[index + 1] ?? '';
    if (name === ':authority') authority = value;
    if (name.startsWith(':')) continue;
    if (name === 'host' && value === authority) repeated = true;
    plain.push(name, value);
  }
  return authority === null || repeated ? plain : ['host', authority, ...plain];
}
