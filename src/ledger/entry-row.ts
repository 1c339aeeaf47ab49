import type { Store } from '../store/database.ts';
import { type BucketName, buckets, inputTokens, isCapped, outputTokens, type Usage } from './buckets.ts';
import { namesOf } from './names.ts';
import type { costUnknownReasons, LedgerEntry } from './schema.ts';

/** Finished requests as they are shown, with the names of their keys. */
export async function shownRequests(
  store: Pick<Store, 'db'>,
  entries: readonly LedgerEntry[],
): Promise<ShownRequest[]> {
  const names = await namesOf(
    store,
    'keys',
    entries.map(({ keyId }) => keyId),
  );
  return entries.map((entry) => rowOfEntry(entry, names.get(entry.keyId) ?? null));
}

/** One finished request as it is shown, with the name of its key. */
export async function shownRequest(store: Pick<Store, 'db'>, entry: LedgerEntry): Promise<ShownRequest> {
  const names = await namesOf(store, 'keys', [entry.keyId]);
  return rowOfEntry(entry, names.get(entry.keyId) ?? null);
}

export type ShownRequest = ReturnType<typeof rowOfEntry>;

/** A finished request as it is shown. Times in ISO 8601, money in USD. */
export function rowOfEntry(entry: LedgerEntry, keyName: string | null) {
  const { usage } = entry;
  return {
    id: entry.id,
    started_at: new Date(entry.startedAt).toISOString(),
    status: entry.status,
    outcome: entry.outcome,
    key_id: entry.keyId,
    key_name: keyName,
    provider: entry.provider,
    connection: entry.connection,
    connection_id: entry.connectionId,
    format: entry.format,
    requested_model: entry.requestedModel,
    combo_id: entry.comboId,
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
    asked_tier: entry.requestedTier,
    served_tier: entry.servedTier,
    finish_reason: entry.finishReason,
    raw_finish_reason: entry.rawFinishReason,
    cost_usd: entry.costUsd,
    cost_unknown: costUnknownReason(entry),
    cache_savings_usd: entry.cacheSavingsUsd,
    billing: entry.billing,
    routing_savings_usd: entry.routingSavingsUsd,
    price_source: entry.priceSource,
    ttft_ms: entry.ttftMs,
    duration_ms: entry.durationMs,
    attempts: entry.attempts,
    error: entry.errorCode === null ? null : { code: entry.errorCode, message: entry.errorMessage },
    upstream_request_id: entry.upstreamRequestId,
    user_agent: entry.userAgent,
    client: entry.userAgent === null ? null : clientOf(entry.userAgent),
    session: entry.session,
    tags: [...entry.tags],
  };
}

/** The program of a user agent: what stands before its first slash or blank. As `clientColumn` has it in the database. */
function clientOf(userAgent: string): string {
  return userAgent.split(/[/ ]/, 1)[0] ?? '';
}

/** Why the cost of an entry is not known; null where it is, and where nothing is known to be used. */
export function costUnknownReason({
  costUsd,
  priceSource,
  servedTier,
  usage,
}: LedgerEntry): (typeof costUnknownReasons)[number] | null {
  if (costUsd !== null || usage === null) return null;
  if (priceSource !== null) return 'no_unit_price';
  return servedTier === null || servedTier === 'default' ? 'no_price' : 'no_tier_price';
}

/** The buckets under the names with which they are shown. */
function namedBuckets(usage: Usage): Record<BucketName, number> {
  return Object.fromEntries(buckets.map(({ member, name }) => [name, usage[member]])) as Record<
    BucketName,
    number
  >;
}
