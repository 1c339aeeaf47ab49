import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../lib/error.ts';

/** Names under which the gateway may be spoken to, in lower case, without ports. */
export interface Hosts {
  allowed: ReadonlySet<string>;
}

/** The names of this machine, the one that the gateway listens on, and those that its owner allows. */
export function ownHosts(listening: string, allowed: readonly string[]): Hosts {
  const names = ['localhost', '127.0.0.1', '[::1]', ...allowed];
  if (!/^(0\.0\.0\.0|::|\[::\])$/.test(listening))
    names.push(listening.includes(':') ? `[${listening}]` : listening);
  return { allowed: new Set(names.flatMap((name) => hostName(name) ?? [])) };
}

/** Methods that change nothing, with the one exception that `sameOrigin` makes for logins. */
const safe: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Every value of a header, as sent: Node keeps only the first of some and joins others. */
function valuesOf(request: IncomingMessage, name: string): string[] {
  const values: string[] = [];
  const { rawHeaders } = request;
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() === name) values.push(rawHeaders[index + 1] ?? '');
  }
  return values;
}

/** The host of a `Host` header's value or an origin, in lower case and without the port; null when it is none. */
function hostName(authority: string): string | null {
  const url = URL.parse(`http://${authority}`);
  if (url === null || url.pathname !== '/' || url.search !== '' || url.username !== '') return null;
  return /[/?#@\s]/.test(authority) ? null : url.hostname.toLowerCase();
}

/**
 * Refuses requests that were meant for another name: a page that has its own name resolved to this machine (DNS
 * rebinding) reaches the API with the page's name in `Host`. An absolute target counts like `Host` (RFC 9112, 3.2.2).
 * @throws GatewayError `host_not_allowed`
 */
export function checkHost(request: IncomingMessage, { allowed }: Hosts): void {
  const named = valuesOf(request, 'host');
  const target = request.url ?? '/';
  const absolute = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(target)?.[1];
  if (absolute !== undefined) named.push(absolute);
  const [first] = named;
  if (first === undefined || (absolute === undefined && named.length > 1))
    throw refused('The request must have exactly one Host header');
  for (const authority of named) {
    const name = hostName(authority);
    if (name === null || !allowed.has(name))
      throw refused(
        'This name of the gateway is not allowed: add it to "allowed_hosts" in config.json, or use 127.0.0.1',
      );
  }
}

/**
 * Refuses requests that a page of another origin made. A browser names the page's origin on every request that can
 * change something; programs that are no browser send neither header, and pass.
 * @param mints the request hands out a credential, so that reading it is not harmless
 * @throws GatewayError `origin_not_allowed`
 */
export function checkOrigin(request: IncomingMessage, { allowed }: Hosts, mints: boolean): void {
  if (safe.has(request.method ?? '') && !mints) return;
  const [host] = valuesOf(request, 'host');
  for (const origin of valuesOf(request, 'origin')) {
    if (!isOwnOrigin(origin, host ?? '', allowed))
      throw new GatewayError('origin_not_allowed', 'Requests from pages of other origins are not taken');
  }
  for (const site of valuesOf(request, 'sec-fetch-site')) {
    if (site !== 'same-origin' && site !== 'none')
      throw new GatewayError('origin_not_allowed', 'Requests from pages of other sites are not taken');
  }
}

/** The scheme may differ behind a proxy that ends TLS; name and port may not. */
function isOwnOrigin(origin: string, host: string, allowed: ReadonlySet<string>): boolean {
  const authority = /^https?:\/\/([^/]+)$/i.exec(origin)?.[1];
  if (authority === undefined) return false;
  const name = hostName(authority);
  return name !== null && allowed.has(name) && authority.toLowerCase() === host.toLowerCase();
}

/**
 * A browser attaches a remembered Basic login to a form that any page submits, whose body is at most `text/plain`. With
 * a content type that forms cannot have, it must ask first (CORS preflight), and is never allowed.
 * @throws GatewayError `unsupported_content_type`
 */
export function checkFormOfBasic(request: IncomingMessage): void {
  if (safe.has(request.method ?? '')) return;
  const fromBrowser =
    valuesOf(request, 'origin').length > 0 ||
    request.rawHeaders.some((name, index) => index % 2 === 0 && /^sec-fetch-/i.test(name));
  const type = request.headers['content-type'] ?? '';
  if (fromBrowser && !/^application\/(json|merge-patch\+json)\b/i.test(type))
    throw new GatewayError(
      'unsupported_content_type',
      'A browser that logs in with a password must send "content-type: application/json"',
    );
}

/**
 * Whether the caller takes JSON: `Accept` is absent or empty, or names JSON or anything (AC-50, AC-51).
 * @throws GatewayError `not_acceptable`
 */
export function checkAccept(request: IncomingMessage): void {
  const accept = request.headers.accept ?? '';
  if (accept.trim() === '' || /json|\*\/\*|application\/\*/i.test(accept)) return;
  throw new GatewayError('not_acceptable', 'Answers are JSON: send "accept: application/json"');
}

function refused(message: string): GatewayError {
  return new GatewayError('host_not_allowed', message);
}
