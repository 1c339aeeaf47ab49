import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { AwsKeys } from '../../../connections/accounts/schema.ts';
import { awsSignature } from '../../../connections/credentials/aws-signature.ts';
import { createOutboundAgent } from '../../../http/outbound/agent.ts';
import { outboundConnector } from '../../../http/outbound/connector.ts';
import type { Listening } from '../../../http/outbound/outbound.ts';
import type { ObjectStore } from './object-store.ts';

const TIMEOUT_MS = 10_000;
/** After the first: for answers that say to try again, and for none. */
const RETRIES = 3;
const RETRY_MS = 100;
const MOST_LIST_BYTES = 8 * 1_048_576;

export interface S3Input {
  /** Scheme and host, with the bucket where it is in the host. */
  origin: string;
  /** What paths begin with, without a slash at the end: the bucket, where it is not in the host, and the prefix. */
  bucketPath: string;
  /** What all keys begin with. */
  prefix: string;
  keys: AwsKeys;
  listening: Listening;
  now: () => number;
}

interface S3Answer {
  readonly status: number;
  readonly body: Buffer;
}

/** Objects in a store that speaks S3 and honors `If-None-Match: *` when an object is put (AWS, MinIO, R2, Ceph). */
export function s3Objects({ bucketPath, keys, listening, now, origin, prefix }: S3Input): ObjectStore {
  const agent = createOutboundAgent({ connect: outboundConnector({ timeoutMs: TIMEOUT_MS, listening }) });
  const once = async (
    method: 'GET' | 'PUT' | 'DELETE',
    path: string,
    headers: Readonly<Record<string, string>>,
    body: Buffer,
  ): Promise<S3Answer> => {
    const signed = { ...headers, 'x-amz-content-sha256': createHash('sha256').update(body).digest('hex') };
    const signature = awsSignature(
      { method, origin, path, headers: signed, body: [body] },
      keys,
      's3',
      now(),
    );
    const answer = await agent.request(`${origin}${path}`, {
      method,
      headers: { ...signed, ...signature },
      body: method === 'PUT' ? body : null,
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return { status: answer.statusCode, body: await whole(answer.body) };
  };
  const ask: typeof once = async (method, path, headers, body) => {
    for (let retry = 0; ; retry += 1) {
      const answer = await once(method, path, headers, body).catch((error: unknown) => {
        if (retry === RETRIES) throw error;
        return null;
      });
      const again = answer === null || answer.status >= 500 || answer.status === 429 || answer.status === 409;
      if (answer !== null && (!again || retry === RETRIES)) return answer;
      await delay(RETRY_MS * 2 ** retry);
    }
  };
  const none = Buffer.alloc(0);
  const pathOf = (key: string) => `${bucketPath}/${prefix}${key}`;
  const failure = (what: string, { body, status }: S3Answer) => {
    const [, code = 'no code'] = /<Code>([A-Za-z]{1,60})<\/Code>/.exec(body.toString()) ?? [];
    return new Error(`The object store answered ${what} with the status ${status} (${code})`);
  };
  const page = async (start: string, token: string | null): Promise<string[]> => {
    const query = new URLSearchParams({ 'list-type': '2', prefix: `${prefix}${start}` });
    if (token !== null) query.set('continuation-token', token);
    const text = String(query).replaceAll('+', '%20');
    const answer = await ask('GET', `${bucketPath}/?${text}`, {}, none);
    if (answer.status !== 200) throw failure('a list', answer);
    const xml = answer.body.toString();
    const keys = [...xml.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = '']) => key.slice(prefix.length));
    const [, next] = /<NextContinuationToken>([^<]+)<\/NextContinuationToken>/.exec(xml) ?? [];
    return next === undefined ? keys : [...keys, ...(await page(start, next))];
  };
  return {
    list: async (start) => (await page(start, null)).sort(),
    async get(key) {
      const answer = await ask('GET', pathOf(key), {}, none);
      if (answer.status === 404) return null;
      if (answer.status !== 200) throw failure('a read', answer);
      return answer.body;
    },
    async create(key, bytes) {
      const answer = await ask('PUT', pathOf(key), { 'if-none-match': '*' }, bytes);
      if (answer.status === 412) return 'exists';
      if (answer.status !== 200) throw failure('a write', answer);
      return 'created';
    },
    async put(key, bytes) {
      const answer = await ask('PUT', pathOf(key), {}, bytes);
      if (answer.status !== 200) throw failure('a write', answer);
    },
    async remove(key) {
      const answer = await ask('DELETE', pathOf(key), {}, none);
      if (answer.status !== 204 && answer.status !== 200 && answer.status !== 404)
        throw failure('a removal', answer);
    },
    close: () => agent.destroy(),
  };
}

async function whole(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MOST_LIST_BYTES) throw new Error('The object store answered with too many bytes');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
