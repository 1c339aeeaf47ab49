import type { ConnectionRecord } from './schema.ts';

/** A connection as it is shown, without its credential. Times in ISO 8601. */
export function rowOfConnection(record: ConnectionRecord) {
  return {
    id: record.id,
    provider: record.provider,
    name: record.name,
    auth_type: record.authType,
    base_url: record.baseUrl,
    default_model: record.defaultModel,
    active: record.active,
    priority: record.priority,
    prompt_cache_marks: record.cacheMarks,
    billing: record.billing,
    status: record.status,
    last_error: record.lastError,
    last_tested_at: isoOrNull(record.lastTestedAt),
    models: record.models === null ? null : record.models.length,
    models_at: isoOrNull(record.modelsAt),
    models_error: record.modelsError,
    has_credential: record.authType !== 'none' && record.login?.logged_in !== false,
    oauth: record.login ?? null,
    needs_reentry: record.status === 'needs-re-entry',
    created_at: new Date(record.createdAt).toISOString(),
  };
}

function isoOrNull(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
