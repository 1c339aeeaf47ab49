import type { KeyRecord } from '../access/schema.ts';
import type { ConnectionRecord } from '../connections/schema.ts';
import { iso } from './text.ts';

/** A gateway key as `--json` shows it: never the key, only the start of it. */
export function keyDocument(record: KeyRecord, now: number) {
  return {
    id: record.id,
    name: record.name,
    prefix: record.prefix,
    models: record.models,
    created_at: iso(record.createdAt),
    expires_at: iso(record.expiresAt),
    last_used_at: iso(record.lastUsedAt),
    expired: isExpired(record, now),
    disabled: record.disabled,
  };
}

export function isExpired(record: KeyRecord, now: number): boolean {
  return record.expiresAt !== null && record.expiresAt <= now;
}

/** A connection as `--json` shows it, without its credential. */
export function connectionDocument(record: ConnectionRecord) {
  return {
    id: record.id,
    provider: record.provider,
    name: record.name,
    auth_type: record.authType,
    base_url: record.baseUrl,
    default_model: record.defaultModel,
    active: record.active,
    priority: record.priority,
    status: record.status,
    last_error: record.lastError,
    last_tested_at: iso(record.lastTestedAt),
    models: record.models === null ? null : record.models.length,
    created_at: iso(record.createdAt),
  };
}
