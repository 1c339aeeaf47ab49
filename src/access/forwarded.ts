import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { plainAddress } from './client-address.ts';

/**
 * Whose address a request came from. What `X-Forwarded-For` and `Forwarded` (RFC 7239) say counts only as far as
 * trusted proxies said it: the last address that is none of theirs is the client's, and what stands before it may be
 * the client's invention.
 * @param peer the address of the connection
 * @param trusted whether an address is that of a proxy whose word counts
 * @returns '' where the proxy passes on what cannot be read or both headers and they differ: an address that is in no
 *   network and on no machine
 */
export function clientAddress(
  peer: string,
  headers: IncomingHttpHeaders,
  trusted: (address: string) => boolean,
): string {
  if (!trusted(peer)) return peer;
  const headerHops = [
    { value: headers['x-forwarded-for'], hopOf: bare },
    { value: headers['forwarded'], hopOf: forwardedFor },
  ].flatMap(({ hopOf, value }) => (value === undefined ? [] : [{ list: String(value), hopOf }]));
  const addresses = new Set(headerHops.map(({ hopOf, list }) => lastForeign(list, hopOf, trusted)));
  const [only, ...others] = addresses;
  if (only === undefined) return peer;
  return others.length === 0 ? only : '';
}

/** More proxies than stand in a row anywhere; and as long as what one of them says can be. */
const MAX_HOPS = 32;
const MAX_ELEMENT = 512;

/** Reads a list from its end, for what stands before the client's address is anybody's, and may be long. */
function lastForeign(
  list: string,
  hopOf: (element: string) => string,
  trusted: (address: string) => boolean,
): string {
  let hop = '';
  let end = list.length;
  for (let count = 0; count < MAX_HOPS && end >= 0; count += 1) {
    const comma = end === 0 ? -1 : list.lastIndexOf(',', end - 1);
    if (end - comma > MAX_ELEMENT) return '';
    hop = hopOf(list.slice(comma + 1, end));
    if (isIP(plainAddress(hop)) === 0) return '';
    if (!trusted(hop)) return hop;
    end = comma;
  }
  return end >= 0 ? '' : hop;
}

function forwardedFor(element: string): string {
  return bare(/(?:^|;)\s*for=("[^"]*"|[^;]*)/i.exec(element.trim())?.[1] ?? '');
}

/** An address without quotes, brackets and port. */
function bare(text: string): string {
  const plain = text.trim().replace(/^"(.*)"$/, '$1');
  return /^\[([^\]]*)\](?::\d+)?$/.exec(plain)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(plain)?.[1] ?? plain;
}
