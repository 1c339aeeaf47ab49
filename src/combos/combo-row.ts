import type { ComboOptions, ComboRecord } from './combo-schema.ts';
import type { Pool } from './pool/pool.ts';
import type { OptionsRow } from './schema.ts';

/**
 * A combo as it is shown. Times in ISO 8601.
 * @param pool the combo as requests see it; null when it is not known, and then no target has a problem
 */
export function rowOfCombo(record: ComboRecord, pool: Pool | null) {
  const problems = new Map(
    pool?.missing.map(({ connection, detail, model }) => [`${connection}/${model}`, detail]),
  );
  return {
    id: record.id,
    name: record.name,
    strategy: record.strategy,
    targets: record.targets.map(({ target, weight }) => ({
      target,
      weight,
      problem: problems.get(target.includes('/') ? target : `${target}/`) ?? null,
    })),
    options: optionsRowOf(record.options),
    active: record.active,
    created_at: new Date(record.createdAt).toISOString(),
    updated_at: new Date(record.updatedAt).toISOString(),
  };
}

function optionsRowOf(options: ComboOptions): OptionsRow {
  return {
    wait_ms: options.waitMs,
    continue_stream: options.continueStream,
    affinity: options.affinity,
    max_attempts: options.maxAttempts,
    max_elapsed_ms: options.maxElapsedMs,
    cache: options.cache,
    cache_ttl_seconds: options.cacheTtlMs === null ? null : options.cacheTtlMs / 1000,
    prompt_cache_marks: options.cacheMarks,
  };
}

/** The options that a row names. */
export function optionsOf(row: Partial<OptionsRow>): Partial<ComboOptions> {
  const options: Partial<ComboOptions> = {};
  if (row.wait_ms !== undefined) options.waitMs = row.wait_ms;
  if (row.continue_stream !== undefined) options.continueStream = row.continue_stream;
  if (row.affinity !== undefined) options.affinity = row.affinity;
  if (row.max_attempts !== undefined) options.maxAttempts = row.max_attempts;
  if (row.max_elapsed_ms !== undefined) options.maxElapsedMs = row.max_elapsed_ms;
  if (row.cache !== undefined) options.cache = row.cache;
  if (row.cache_ttl_seconds !== undefined)
    options.cacheTtlMs = row.cache_ttl_seconds === null ? null : row.cache_ttl_seconds * 1000;
  if (row.prompt_cache_marks !== undefined) options.cacheMarks = row.prompt_cache_marks;
  return options;
}
