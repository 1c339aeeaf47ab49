import { GatewayError } from '../lib/error.ts';

/** The one version of the API that is served. */
export const apiVersion = '1.0.0';

/** Characters of a path: an id of 200 characters, each escaped as four bytes, and then some. */
const MAX_LENGTH = 4096;

/** A path below `/api`, in its parts. */
export interface ApiPath {
  /** The version that the path names; null for none. */
  version: string | null;
  /** '' for the entry point. */
  collection: string;
  /** The parts behind the collection, decoded. */
  rest: readonly string[];
  /** What hrefs begin with. */
  prefix: string;
}

/** Reads `/api[/v1.0.0][/COLLECTION[/ID[/SUB]]]`; repeated slashes count as one. @throws GatewayError for bad escapes, and what is too long */
export function apiPath(path: string): ApiPath {
  if (path.length > MAX_LENGTH)
    throw new GatewayError('invalid_request', `A path of this API has at most ${MAX_LENGTH} characters`);
  const [, ...parts] = path.split('/').filter((part) => part !== '');
  const version = /^v(\d+(?:\.\d+){0,2})$/.exec(parts[0] ?? '')?.[1] ?? null;
  const [collection = '', ...rest] = (version === null ? parts : parts.slice(1)).map(decoded);
  return { version, collection, rest, prefix: version === null ? '/api' : `/api/v${version}` };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new GatewayError('invalid_request', 'The path has an invalid percent escape: encode it again');
  }
}
