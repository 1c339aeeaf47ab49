import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { KeyLookup } from './keys/key-index.ts';
import { hashKey } from './keys/keys.ts';
import type { KeyRecord } from './schema.ts';

/** Who a request comes from. */
export interface Principal {
  keyId: string;
  name: string;
  /** What it may use (`allowed-models.ts`); null for everything. */
  models: string[] | null;
  /** For how long an answer may be given again to the same request, in milliseconds; absent for never. */
  cacheTtlMs?: number;
  /** What the key says of its requests: its labels, `owner=…` and `team=…`; absent for nothing. */
  tags?: readonly string[];
}

/** A longer credential is no key of ours and is not worth hashing. */
const MAX_KEY_LENGTH = 512;

/**
 * The principal of the first valid key among those presented, or null. Tools send several credentials at once,
 * not all of them meant for us, so an unknown one does no harm beside a known one.
 */
export function authenticate(table: KeyLookup, presented: readonly string[], now: number): Principal | null {
  for (const key of presented) {
    if (key.length > MAX_KEY_LENGTH) continue;
    const digest = hashKey(key);
    const record = table.get(digest);
    if (record === undefined || !sameDigest(record.hash, digest)) continue;
    if (record.disabled || (record.expiresAt !== null && record.expiresAt <= now)) continue;
    const principal: Principal = { keyId: record.id, name: record.name, models: record.models };
    if (record.cacheTtlSeconds !== null) principal.cacheTtlMs = record.cacheTtlSeconds * 1000;
    const tags = tagsOfKey(record);
    if (tags.length > 0) principal.tags = tags;
    return principal;
  }
  return null;
}

/** What a key says of its requests: its labels, `owner=…` and `team=…`. */
export function tagsOfKey({ labels, owner, team }: Pick<KeyRecord, 'labels' | 'owner' | 'team'>): string[] {
  const tags = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  if (owner !== null) tags.push(`owner=${owner}`);
  if (team !== null) tags.push(`team=${team}`);
  return tags;
}

/** Every credential in the headers that tools use for one. */
export function presentedKeys(headers: IncomingHttpHeaders): string[] {
  const presented: string[] = [];
  const { authorization } = headers;
  if (authorization !== undefined && /^bearer /i.test(authorization))
    presented.push(authorization.slice(7).trim());
  for (const name of ['x-api-key', 'api-key', 'x-goog-api-key']) {
    const value = headers[name];
    if (typeof value === 'string' && value !== '') presented.push(value);
  }
  return presented;
}

/** The map found the digest by its text; comparing it in constant time keeps that from depending on the map's own way. */
function sameDigest(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a, 'latin1'), Buffer.from(b, 'latin1'));
}
