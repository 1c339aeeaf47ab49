import { GatewayError } from '../lib/error.ts';
import { withoutTrailing } from '../lib/trailing.ts';

/** `v1`, `v1beta`, `v4`: the segment that names an API's version. */
const versionSegment = /^v\d[a-z0-9]*$/;

/**
 * The address of `path` (`/v1/chat/completions`) below a base URL as people really type it.
 *
 * The base may be the root or may already hold the first segments of `path`: what is there twice is written once.
 * It may also be the base of another of the provider's `paths` (`…/compatible-mode/v1`, when `path` is
 * `/apps/anthropic/v1/messages`): then the root they share counts. A base that ends in a version of its own
 * (`…/v4`) keeps it instead of the one with which `path` begins.
 * Trailing slashes go; a query on the base (`?api-version=…`) stays.
 * @throws GatewayError `invalid_request` naming `base_url`. The message never repeats the value, which may hold a secret.
 */
export function upstreamUrl(baseUrl: string, path: string, paths: readonly string[] = []): string {
  const base = parseBase(baseUrl);
  const tail = segments(path);
  const joined = join(segments(base.pathname), tail, paths.map(segments));
  return `${base.origin}/${joined.join('/')}${base.search}`;
}

function join(base: string[], path: string[], others: readonly string[][]): string[] {
  const shared = Math.max(...[path, ...others].map((each) => overlap(base, each)));
  if (shared > 0) return [...base.slice(0, -shared), ...path];
  const [first = ''] = path;
  if (!versionSegment.test(base.at(-1) ?? '')) return [...base, ...path];
  if (versionSegment.test(first)) return [...base, ...path.slice(1)];
  // The path names its version later (`/anthropic/v1/messages`): the base's version is that of another surface.
  return path.some((segment) => versionSegment.test(segment))
    ? [...base.slice(0, -1), ...path]
    : [...base, ...path];
}

/** How many segments at the end of `base` are those with which `path` begins. */
function overlap(base: readonly string[], path: readonly string[]): number {
  for (let count = Math.min(base.length, path.length); count > 0; count--) {
    if (base.slice(-count).every((segment, index) => segment === path[index])) return count;
  }
  return 0;
}

function segments(path: string): string[] {
  return withoutTrailing(path, '/')
    .replace(/^\/+/, '')
    .split('/')
    .filter((segment, index) => segment !== '' || index > 0);
}

function parseBase(baseUrl: string): URL {
  const base = URL.parse(baseUrl.trim());
  if (base === null) throw invalid('is not a URL: give one such as http://127.0.0.1:8000/v1');
  if (base.protocol !== 'http:' && base.protocol !== 'https:') {
    throw invalid(`must start with http:// or https://, not ${base.protocol}//`);
  }
  if (base.username !== '' || base.password !== '') {
    throw invalid('must not contain a user name or password: give the credential as the API key');
  }
  if (baseUrl.includes('#')) throw invalid('must not contain a fragment (#…): remove it');
  return base;
}

function invalid(problem: string): GatewayError {
  return new GatewayError('invalid_request', `base_url ${problem}`, { param: 'base_url' });
}
