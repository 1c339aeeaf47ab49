import { type Selectable, sql } from 'kysely';
import type { Store, Value } from '../store/database.ts';
import type { RequestTable } from '../store/tables.ts';
import { keyNameColumn } from './names.ts';
import { ledgerColumns } from './record.ts';
import type { LedgerEntry } from './schema.ts';
import { type Sums, sumsOf } from './sums.ts';
import { hasTag } from './tag-column.ts';

/** An entry as it was kept. */
export type LedgerRow = LedgerEntry;

export interface RecentQuery {
  /** The newest so many. */
  limit: number;
  /** Only requests that started at or after this time, in milliseconds since the epoch. */
  since?: number;
  /** Only entries that contain this text in a name, a model, an error, a tag, the user agent or the id. */
  search?: string;
  /** Only entries that have all of these tags. */
  tags?: readonly string[];
}

const searchedColumns = [
  'id',
  'key_id',
  'connection',
  'provider',
  'format',
  'requested_model',
  'model',
  'outcome',
  'error_code',
  'error_message',
  'upstream_request_id',
  'user_agent',
  'tags',
] as const;

const searched = [...searchedColumns.map((column) => sql.ref(column)), keyNameColumn];

/** The newest ledger entries that match, oldest of them first. */
export async function recentRequests(
  store: Pick<Store, 'db' | 'kind'>,
  query: RecentQuery,
): Promise<LedgerRow[]> {
  const { limit, search, since, tags = [] } = query;
  let select = store.db.selectFrom('requests').selectAll();
  if (since !== undefined) select = select.where('started_at', '>=', since);
  for (const tag of tags) select = select.where(hasTag(tag));
  if (search !== undefined && search !== '') {
    // SQLite compares so without regard to upper and lower case.
    const like = store.kind === 'postgres' ? sql`ilike` : sql`like`;
    const pattern = `%${search.replace(/[\\%_]/g, '\\$&')}%`;
    select = select.where((where) =>
      where.or(searched.map((value) => sql<boolean>`${value} ${like} ${pattern} escape '\\'`)),
    );
  }
  const rows = await select.orderBy('started_at', 'desc').orderBy('id', 'desc').limit(limit).execute();
  return rows.reverse().map(entryOf);
}

export type Totals = Pick<
  Sums,
  | 'requests'
  | 'failed'
  | 'aborted'
  | 'inputTokens'
  | 'outputTokens'
  | 'costUsd'
  | 'cacheSavingsUsd'
  | 'unpriced'
  | 'unpricedTokens'
>;

/** Sums over the requests since a time, in milliseconds since the epoch. */
export async function totals(store: Pick<Store, 'db'>, { since }: { since: number }): Promise<Totals> {
  const [sums] = await sumsOf(store, { by: [], since });
  if (sums === undefined) throw new Error('a sum over everything has one row');
  return {
    requests: sums.requests,
    failed: sums.failed,
    aborted: sums.aborted,
    inputTokens: sums.inputTokens,
    outputTokens: sums.outputTokens,
    costUsd: sums.costUsd,
    cacheSavingsUsd: sums.cacheSavingsUsd,
    unpriced: sums.unpriced,
    unpricedTokens: sums.unpricedTokens,
  };
}

/** The entry whose values these are, as `ledgerRow` has them. */
export function entryOfValues(values: readonly Value[]): LedgerEntry {
  const columns = Object.fromEntries(ledgerColumns.map((column, index) => [column, values[index] ?? null]));
  return entryOf(columns as Selectable<RequestTable>);
}

/** An entry of its row. */
export function entryOf(row: Selectable<RequestTable>): LedgerRow {
  return {
    id: row.id,
    startedAt: row.started_at,
    keyId: row.key_id,
    connectionId: row.connection_id,
    connection: row.connection,
    provider: row.provider,
    format: row.format,
    requestedModel: row.requested_model,
    comboId: row.combo_id,
    dropped: row.dropped === null ? [] : JSON.parse(row.dropped),
    innerComboIds: row.inner_combo_ids === null ? [] : JSON.parse(row.inner_combo_ids),
    model: row.model,
    status: row.status,
    outcome: row.outcome,
    errorCode: row.error_code,
    errorMessage: row.error_message,
    streamed: row.streamed === 1,
    usage: usageOf(row),
    estimated: row.estimated === 1,
    cached: row.cached === 1,
    continued: row.continued,
    requestedTier: row.asked_tier,
    servedTier: row.served_tier,
    finishReason: row.finish_reason,
    rawFinishReason: row.raw_finish_reason,
    costUsd: row.cost_usd,
    priceSource: row.price_source,
    cacheSavingsUsd: row.cache_savings_usd,
    billing: row.on_plan === 1 ? 'plan' : 'metered',
    routingSavingsUsd: row.routing_savings_usd,
    session: row.session,
    ttftMs: row.ttft_ms,
    durationMs: row.duration_ms,
    attempts: row.attempts,
    upstreamRequestId: row.upstream_request_id,
    userAgent: row.user_agent,
    tags: row.tags === null ? [] : JSON.parse(row.tags),
  };
}

function usageOf(row: Selectable<RequestTable>): LedgerEntry['usage'] {
  if (row.input_tokens === null) return null;
  return {
    input: row.input_tokens,
    cacheRead: row.cache_read_tokens ?? 0,
    cacheWrite5m: row.cache_write_5m_tokens ?? 0,
    cacheWrite1h: row.cache_write_1h_tokens ?? 0,
    output: row.output_tokens ?? 0,
    reasoning: row.reasoning_tokens ?? 0,
    audioInput: row.audio_input_tokens ?? 0,
    audioOutput: row.audio_output_tokens ?? 0,
    imageInput: row.image_input_tokens ?? 0,
    imageOutput: row.image_output_tokens ?? 0,
    webSearches: row.web_searches ?? 0,
    images: row.images ?? 0,
    audioSeconds: row.audio_seconds ?? 0,
    characters: row.characters ?? 0,
    searchUnits: row.search_units ?? 0,
  };
}
