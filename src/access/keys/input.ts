import type { Row } from '../../http/resource.ts';
import { GatewayError } from '../../lib/error.ts';
import { type KeyRecord, keyChange, newKeyInput } from '../schema.ts';
import type { KeyPatch, keyStore } from '../store.ts';

/**
 * Makes a key from input.
 * @returns the key, and its text, which is kept nowhere
 * @throws GatewayError for a time that is past or a name that is taken, ZodError for other input that is not valid
 */
export async function addKey(
  keys: Pick<ReturnType<typeof keyStore>, 'add'>,
  input: Record<string, unknown>,
  now: number,
): Promise<{ record: KeyRecord; key: string }> {
  const { cache_ttl_seconds, expires_at, labels, models, name, owner, team } = newKeyInput.parse(input);
  return keys.add({
    name,
    models: models ?? null,
    expiresAt: futureTime(expires_at ?? null, now),
    cacheTtlSeconds: cache_ttl_seconds ?? null,
    owner: owner ?? null,
    team: team ?? null,
    labels: labels ?? {},
  });
}

/**
 * What a change of a key comes to.
 * @param row the key as it is shown
 * @throws GatewayError for a time that is past, ZodError for other input that is not valid
 */
export function keyPatch(row: Row, input: Record<string, unknown>, now: number): KeyPatch {
  const { expires_at, ...rest } = keyChange.parse(input);
  const patch: KeyPatch = {};
  if (rest.name !== undefined) patch.name = rest.name;
  if (rest.models !== undefined) patch.models = rest.models;
  if (rest.disabled !== undefined) patch.disabled = rest.disabled;
  if (rest.cache_ttl_seconds !== undefined) patch.cacheTtlSeconds = rest.cache_ttl_seconds;
  if (rest.owner !== undefined) patch.owner = rest.owner;
  if (rest.team !== undefined) patch.team = rest.team;
  if (rest.labels !== undefined) patch.labels = rest.labels;
  // An expired key may be sent back as it was read, to change something else.
  if (expires_at !== undefined && expires_at !== row['expires_at'])
    patch.expiresAt = futureTime(expires_at, now);
  return patch;
}

/** @throws GatewayError for a time that is past */
function futureTime(text: string | null, now: number): number | null {
  if (text === null) return null;
  const at = Date.parse(text);
  if (at > now) return at;
  throw new GatewayError('invalid_request', `expires_at must be in the future, and ${text} is not`, {
    param: 'expires_at',
  });
}
