import type { KeyRecord } from '../schema.ts';

/** A gateway key as it is shown: never the key, only the ends of it. Times in ISO 8601. */
export function rowOfKey(record: KeyRecord, now: number) {
  return {
    id: record.id,
    name: record.name,
    prefix: record.prefix,
    models: record.models,
    created_at: new Date(record.createdAt).toISOString(),
    expires_at: isoOrNull(record.expiresAt),
    last_used_at: isoOrNull(record.lastUsedAt),
    expired: isExpired(record, now),
    disabled: record.disabled,
    cache_ttl_seconds: record.cacheTtlSeconds,
    owner: record.owner,
    owner_user_id: record.ownerUserId,
    team: record.team,
    labels: record.labels,
  };
}

export function isExpired({ expiresAt }: KeyRecord, now: number): boolean {
  return expiresAt !== null && expiresAt <= now;
}

function isoOrNull(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
