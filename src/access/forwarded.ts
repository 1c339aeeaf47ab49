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
  const said = [listed(headers['x-forwarded-for']), forwardedFor(headers['forwarded'])].filter(
    (hops) => hops !== null,
  );
  const found = new Set(said.map((hops) => lastForeign([...hops, peer], trusted)));
  const [only, ...others] = found;
  if (only === undefined) return peer;
  return others.length === 0 ? only : '';
}

function lastForeign(hops: readonly string[], trusted: (address: string) => boolean): string {
  for (const hop of hops.toReversed()) {
    if (isIP(plainAddress(hop)) === 0) return '';
    if (!trusted(hop)) return hop;
  }
  return hops[0] ?? '';
}

function listed(value: string | string[] | undefined): string[] | null {
  if (value === undefined) return null;
  return String(value).split(',').map(bare);
}

function forwardedFor(value: string | string[] | undefined): string[] | null {
  if (value === undefined) return null;
  return String(value)
    .split(',')
    .map((element) => bare(/(?:^|;)\s*for=("[^"]*"|[^;]*)/i.exec(element.trim())?.[1] ?? ''));
}

/** An address without quotes, brackets and port. */
function bare(text: string): string {
  const plain = text.trim().replace(/^"(.*)"$/, '$1');
  return /^\[([^\]]*)\](?::\d+)?$/.exec(plain)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(plain)?.[1] ?? plain;
}
