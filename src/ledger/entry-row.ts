import { type BucketName, buckets, inputTokens, isCapped, outputTokens, type Usage } from './buckets.ts';
import type { LedgerEntry } from './schema.ts';

/** A finished request as it is shown. Times in ISO 8601, money in USD. */
export function rowOfEntry(entry: LedgerEntry) {
  const { usage } = entry;
  return {
    id: entry.id,
    started_at: new Date(entry.startedAt).toISOString(),
    status: entry.status,
    outcome: entry.outcome,
    key_id: entry.keyId,
    provider: entry.provider,
    connection: entry.connection,
    connection_id: entry.connectionId,
    format: entry.format,
    requested_model: entry.requestedModel,
    model: entry.model,
    dropped: [...entry.dropped],
    streamed: entry.streamed,
    input_tokens: usage === null ? null : inputTokens(usage),
    output_tokens: usage === null ? null : outputTokens(usage),
    usage: usage === null ? null : namedBuckets(usage),
    estimated: entry.estimated,
    usage_capped: usage !== null && isCapped(usage),
    cached: entry.cached,
    continued: entry.continued,
    cost_usd: entry.costUsd,
    cache_savings_usd: entry.cacheSavingsUsd,
    price_source: entry.priceSource,
    ttft_ms: entry.ttftMs,
    duration_ms: entry.durationMs,
    attempts: entry.attempts,
    error: entry.errorCode === null ? null : { code: entry.errorCode, message: entry.errorMessage },
    upstream_request_id: entry.upstreamRequestId,
    user_agent: entry.userAgent,
  };
}

/** The buckets under the names with which they are shown. */
function namedBuckets(usage: Usage): Record<BucketName, number> {
  return Object.fromEntries(buckets.map(({ member, name }) => [name, usage[member]])) as Record<
    BucketName,
    number
  >;
}
