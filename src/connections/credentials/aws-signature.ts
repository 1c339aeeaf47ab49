import { createHash, createHmac } from 'node:crypto';
import type { AwsKeys } from '../accounts/schema.ts';

export interface SignableRequest {
  method: string;
  /** With scheme and host. */
  origin: string;
  /** As it is sent: escaped, with its query. */
  path: string;
  /** Beside `host` and the date: `content-type`. Lower-case names. */
  headers?: Readonly<Record<string, string>>;
  body: readonly Uint8Array[];
}

const ALGORITHM = 'AWS4-HMAC-SHA256';

/**
 * The headers that sign a request (AWS Signature Version 4; docs.aws.amazon.com, IAM user guide, "Create a signed AWS
 * API request"). Pure.
 * @param service its name in signatures: `bedrock`
 * @param now milliseconds since the epoch; AWS allows a difference of minutes
 */
export function awsSignature(
  request: SignableRequest,
  keys: AwsKeys,
  service: string,
  now: number,
): Record<string, string> {
  const date = new Date(now).toISOString().replace(/[-:]|\.\d{3}/g, '');
  const scope = `${date.slice(0, 8)}/${keys.region}/${service}/aws4_request`;
  const added: Record<string, string> = {
    'x-amz-date': date,
    ...(keys.session_token === undefined ? {} : { 'x-amz-security-token': keys.session_token }),
  };
  const signed = Object.entries({ host: new URL(request.origin).host, ...request.headers, ...added })
    .map(([name, value]) => [name, value.trim().replace(/ +/g, ' ')] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const names = signed.map(([name]) => name).join(';');
  const [path = '/', query = ''] = request.path.split('?', 2);
  const canonical = [
    request.method,
    path.split('/').map(escaped).join('/'),
    canonicalQuery(query),
    ...signed.map(([name, value]) => `${name}:${value}`),
    '',
    names,
    hash(request.body),
  ].join('\n');
  const text = [ALGORITHM, date, scope, hash([Buffer.from(canonical)])].join('\n');
  const key = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${keys.secret_access_key}`);
  const signature = hmac(key, text).toString('hex');
  return {
    ...added,
    authorization: `${ALGORITHM} Credential=${keys.access_key_id}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
  };
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function hash(pieces: readonly Uint8Array[]): string {
  const sum = createHash('sha256');
  for (const piece of pieces) sum.update(piece);
  return sum.digest('hex');
}

/**
 * Escapes all but RFC 3986's unreserved characters. Of a path that is escaped already, once more: every service but S3
 * requires that.
 */
function escaped(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Sorted by name, then by value. */
function canonicalQuery(query: string): string {
  return [...new URLSearchParams(query)]
    .map(([name, value]) => [escaped(name), escaped(value)] as const)
    .sort(([a, x], [b, y]) => (a === b ? order(x, y) : order(a, b)))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
