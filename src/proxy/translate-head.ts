import type { IncomingHttpHeaders } from 'node:http';
import { type Call, gatewayHeaders } from './call.ts';
import { callerHeaders } from './headers.ts';

/**
 * The headers of a translated answer, flat, without those about its body: the upstream's limits and hints, where the
 * answer came from, and what the upstream could not be told.
 */
export function translatedHeaders(
  call: Call,
  status: number,
  upstream: IncomingHttpHeaders,
  dropped: readonly string[],
): string[] {
  const { 'content-type': _, 'cache-control': __, ...rest } = upstream;
  const headers = [...callerHeaders(status, rest), ...gatewayHeaders(call)];
  if (dropped.length > 0) headers.push('x-gateway-dropped', headerList(dropped));
  return headers;
}

const MAX_LIST = 1_000;

function headerList(names: readonly string[]): string {
  const text = names.map((name) => name.replace(/[^\x21-\x2b\x2d-\x7e]/g, '?')).join(',');
  return text.length > MAX_LIST ? `${text.slice(0, MAX_LIST)}...` : text;
}
