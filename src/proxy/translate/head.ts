import type { IncomingHttpHeaders } from 'node:http';
import { addGatewayHeaders, type Call } from '../dispatch/call.ts';
import { callerHeaders } from '../upstream/headers.ts';

/**
 * The headers of a translated answer, flat, without those about its body: the upstream's limits and hints, and where the
 * answer came from.
 */
export function translatedHeaders(call: Call, status: number, upstream: IncomingHttpHeaders): string[] {
  const { 'content-type': _, 'cache-control': __, ...rest } = upstream;
  const headers = callerHeaders(status, rest);
  addGatewayHeaders(headers, call, upstream);
  return headers;
}
