import type { ConnectionRecord } from '../connections/schema.ts';
import { iso } from './text.ts';

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
