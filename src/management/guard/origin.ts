import type { RequestHead } from '../../http/exchange.ts';
import { type AllowedHosts, hostName } from '../../http/server/allowed-hosts.ts';
import { headerValues } from '../../http/server/raw-headers.ts';
import { GatewayError } from '../../lib/error.ts';

/** Methods that change nothing, with the one exception that `checkOrigin` makes for logins (`mints`). */
const safe: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses requests that a page of another origin made. A browser names the page's origin on every request that can
 * change something; programs that are no browser send neither header, and pass.
 * @param mints the request hands out a credential, so that reading it is not harmless
 * @throws GatewayError `origin_not_allowed`
 */
export function checkOrigin(request: RequestHead, allowed: AllowedHosts, mints: boolean): void {
  if (safe.has(request.method ?? '') && !mints) return;
  const [host] = headerValues(request.rawHeaders, 'host');
  for (const origin of headerValues(request.rawHeaders, 'origin')) {
    if (!isOwnOrigin(origin, host ?? '', allowed))
      throw new GatewayError('origin_not_allowed', 'Requests from pages of other origins are not accepted');
  }
  for (const site of headerValues(request.rawHeaders, 'sec-fetch-site')) {
    if (site !== 'same-origin' && site !== 'none')
      throw new GatewayError('origin_not_allowed', 'Requests from pages of other sites are not accepted');
  }
}

/** The scheme may differ behind a proxy that ends TLS; name and port may not. */
function isOwnOrigin(origin: string, host: string, allowed: AllowedHosts): boolean {
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
export function checkFormOfBasic(request: RequestHead): void {
  if (safe.has(request.method ?? '')) return;
  const fromBrowser =
    headerValues(request.rawHeaders, 'origin').length > 0 ||
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
export function checkAccept(request: RequestHead): void {
  const accept = request.headers.accept ?? '';
  if (accept.trim() === '' || /json|\*\/\*|application\/\*/i.test(accept)) return;
  throw new GatewayError('not_acceptable', 'Answers are JSON: send "accept: application/json"');
}
