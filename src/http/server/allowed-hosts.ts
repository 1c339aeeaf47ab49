import { GatewayError } from '../../lib/error.ts';
import { headerValues } from './raw-headers.ts';

/** The names that a request may have in `Host`, in lower case, without ports. */
export type AllowedHosts = ReadonlySet<string>;

/** The names of this machine, the one that the gateway listens on, and those that its owner allows. */
export function allowedHosts(listening: string, allowed: readonly string[]): Set<string> {
  const names = ['localhost', '127.0.0.1', '[::1]', ...allowed];
  if (!/^(0\.0\.0\.0|::|\[::\])$/.test(listening))
    names.push(listening.includes(':') ? `[${listening}]` : listening);
  return new Set(names.flatMap((name) => hostName(name) ?? []));
}

/** The host of a `Host` header's value or an origin, in lower case and without the port; null if it is invalid. */
export function hostName(authority: string): string | null {
  const url = URL.parse(`http://${authority}`);
  if (url === null || url.pathname !== '/' || url.search !== '' || url.username !== '') return null;
  return /[/?#@\s]/.test(authority) ? null : url.hostname.toLowerCase();
}

/**
 * Refuses requests that were meant for another name: a page that has its own name resolved to this machine (DNS
 * rebinding) reaches the gateway with the page's name in `Host`. An absolute target counts like `Host` (RFC 9112, 3.2.2).
 * @throws GatewayError `host_not_allowed`
 */
export function checkHost(
  { rawHeaders, url = '/' }: { rawHeaders: readonly string[]; url?: string | undefined },
  allowed: AllowedHosts,
): void {
  const authorities = headerValues(rawHeaders, 'host');
  const absolute = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(url)?.[1];
  if (absolute !== undefined) authorities.push(absolute);
  const [first] = authorities;
  if (first === undefined || (absolute === undefined && authorities.length > 1))
    throw refused('The request must have exactly one Host header');
  for (const authority of authorities) {
    const name = hostName(authority);
    if (name === null || !allowed.has(name))
      throw refused(
        'This name of the gateway is not allowed: add it to "allowed_hosts" in config.json, or use 127.0.0.1',
      );
  }
}

function refused(message: string): GatewayError {
  return new GatewayError('host_not_allowed', message);
}
