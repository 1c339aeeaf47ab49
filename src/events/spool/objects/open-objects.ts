import { fileURLToPath } from 'node:url';
import type { Listening } from '../../../http/outbound/outbound.ts';
import type { Log } from '../../../lib/log.ts';
import { withoutTrailing } from '../../../lib/trailing.ts';
import { resolveAddress } from '../../channels/broker/address.ts';
import type { ObjectStore } from './object-store.ts';

export interface ObjectsInput {
  listening: Listening;
  log: Log;
  now: () => number;
  /** The value of an environment variable. */
  variable(name: string): string | undefined;
}

/**
 * Opens the place that an address names: `file:///mnt/events`, a folder, or `s3://bucket/prefix?endpoint=https://host&region=name`,
 * with the credentials in AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or
 * `postgres://user:${PASSWORD}@host/database?prefix=name`.
 * @throws Error for an address that is none, and missing credentials
 */
export async function openObjects(address: string, input: ObjectsInput): Promise<ObjectStore> {
  if (/^postgres(?:ql)?:/i.test(address)) {
    const { postgresObjects } = await import('./postgres-objects.ts');
    const resolved = resolveAddress(address, input.variable);
    const { password, secrets } = resolved;
    const hidden = password === '' ? secrets : [...secrets, password];
    return postgresObjects({ address: { ...resolved, secrets: hidden }, log: input.log });
  }
  const url = URL.parse(address);
  if (url?.protocol === 'file:') {
    const { directoryObjects } = await import('./directory-objects.ts');
    return directoryObjects(fileURLToPath(url));
  }
  if (url?.protocol !== 's3:' || url.hostname === '')
    throw new Error(
      'EVENTS_DFS_URL must look like s3://BUCKET/PREFIX, postgres://HOST/DATABASE or file:///FOLDER',
    );
  const { s3Objects } = await import('./s3-objects.ts');
  const region = url.searchParams.get('region') ?? input.variable('AWS_REGION') ?? 'us-east-1';
  const prefix = url.pathname.split('/').filter((part) => part !== '');
  return s3Objects({
    ...placeOf(url, region),
    prefix: prefix.map((part) => `${part}/`).join(''),
    keys: keysOf(region, input.variable),
    listening: input.listening,
    now: input.now,
  });
}

/** AWS has the bucket in the host; others have it in the path. */
function placeOf({ hostname, searchParams }: URL, region: string): { origin: string; bucketPath: string } {
  const endpoint = searchParams.get('endpoint');
  if (endpoint === null) return { origin: `https://${hostname}.s3.${region}.amazonaws.com`, bucketPath: '' };
  const url = URL.parse(endpoint);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new Error('The endpoint of EVENTS_DFS_URL must be a URL of http or https');
  return { origin: url.origin, bucketPath: `${withoutTrailing(url.pathname, '/')}/${hostname}` };
}

function keysOf(region: string, variable: ObjectsInput['variable']) {
  const [id, secret] = [variable('AWS_ACCESS_KEY_ID'), variable('AWS_SECRET_ACCESS_KEY')];
  const session = variable('AWS_SESSION_TOKEN');
  if (id === undefined || secret === undefined)
    throw new Error('Storage at s3: needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY');
  return {
    access_key_id: id,
    secret_access_key: secret,
    region,
    ...(session === undefined ? {} : { session_token: session }),
  };
}
