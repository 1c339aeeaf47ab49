import type { Selectable } from 'kysely';
import type { KeyTable } from '../../store/tables.ts';
import type { KeyRecord } from '../schema.ts';

/** What is known of a key beside its own row. */
export interface KeyContext {
  last_used_at: number | null;
  owner_user_id: string | null;
}

export const unknownContext: KeyContext = { last_used_at: null, owner_user_id: null };

/** A key of the database. */
export function recordOf(row: Selectable<KeyTable>, { last_used_at, owner_user_id }: KeyContext): KeyRecord {
  return {
    id: row.id,
    name: row.name,
    prefix: row.prefix,
    hash: row.hash,
    models: row.models === null ? null : JSON.parse(row.models),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: last_used_at,
    disabled: row.disabled === 1,
    cacheTtlSeconds: row.cache_ttl_seconds,
    owner: row.owner,
    ownerUserId: owner_user_id,
    team: row.team,
    labels: row.labels === null ? {} : JSON.parse(row.labels),
  };
}
