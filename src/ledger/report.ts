import { type Selectable, sql } from 'kysely';
import type { Store } from '../store/database.ts';
import type { RequestTable } from '../store/tables.ts';
import type { LedgerEntry } from './schema.ts';

/** An entry as it was kept. */
export type LedgerRow = LedgerEntry;

export interface RecentQuery {
  /** The newest so many. */
  limit: number;
  /** Only requests that started at or after this time, in milliseconds since the epoch. */
  since?: number;
  /** Only entries that contain this text in a name, a model, an error, the user agent or the id. */
  search?: string;
}

const searched = [
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
] as const;

/** The newest ledger entries that match, oldest of them first. */
export async function recentRequests(store: Pick<Store, 'db'>, query: RecentQuery): Promise<LedgerRow[]> {
  const { limit, search, since } = query;
  let select = store.db.selectFrom('requests').selectAll();
  if (since !== undefined) select = select.where('started_at', '>=', since);
  if (search !== undefined && search !== '') {
    const pattern = `%${search.replace(/[\\%_]/g, '\\$&')}%`;
    select = select.where((where) =>
      where.or(searched.map((column) => sql<boolean>`${sql.ref(column)} like ${pattern} escape '\\'`)),
    );
  }
  const rows = await select.orderBy('started_at', 'desc').orderBy('id', 'desc').limit(limit).execute();
  return rows.reverse().map(entryOf);
}

export interface Totals {
  requests: number;
  failed: number;
  aborted: number;
  /** All buckets of the input, cached, written to the cache, audio and pictures included. */
  inputTokens: number;
  /** All buckets of the output, reasoning, audio and pictures included. */
  outputTokens: number;
  /** Sum of the known costs, exact to the millionth of a micro-dollar; null when there were requests and none had a known cost. */
  costUsd: number | null;
  /** Requests whose cost is not known. */
  unpriced: number;
}

/** Sums over the requests since a time, in milliseconds since the epoch. */
export async function totals(store: Pick<Store, 'db'>, { since }: { since: number }): Promise<Totals> {
  const row = await store.db
    .selectFrom('requests')
    .where('started_at', '>=', since)
    .select(({ fn, val, eb }) => [
      fn.countAll<number>().as('requests'),
      fn.sum<number>(eb.case().when('outcome', '=', 'failed').then(val(1)).else(val(0)).end()).as('failed'),
      fn.sum<number>(eb.case().when('outcome', '=', 'aborted').then(val(1)).else(val(0)).end()).as('aborted'),
      fn.sum<number>('input_tokens').as('input'),
      fn.sum<number>('cache_read_tokens').as('cacheRead'),
      fn.sum<number>('cache_write_5m_tokens').as('cacheWrite5m'),
      fn.sum<number>('cache_write_1h_tokens').as('cacheWrite1h'),
      fn.sum<number>('output_tokens').as('output'),
      fn.sum<number>('reasoning_tokens').as('reasoning'),
      fn.sum<number>('audio_input_tokens').as('audioInput'),
      fn.sum<number>('audio_output_tokens').as('audioOutput'),
      fn.sum<number | null>('image_input_tokens').as('imageInput'),
      fn.sum<number | null>('image_output_tokens').as('imageOutput'),
      fn.sum<number | null>('cost_usd').as('costUsd'),
      fn.count<number>('cost_usd').as('priced'),
    ])
    .executeTakeFirstOrThrow();
  return {
    requests: row.requests,
    failed: row.failed ?? 0,
    aborted: row.aborted ?? 0,
    inputTokens: sum(
      row.input,
      row.cacheRead,
      row.cacheWrite5m,
      row.cacheWrite1h,
      row.audioInput,
      row.imageInput,
    ),
    outputTokens: sum(row.output, row.reasoning, row.audioOutput, row.imageOutput),
    costUsd: row.requests === 0 ? 0 : row.costUsd === null ? null : exact(row.costUsd),
    unpriced: row.requests - row.priced,
  };
}

/** SQL's sum over nothing but nulls is null. */
function sum(...parts: (number | null)[]): number {
  return parts.reduce<number>((total, part) => total + (part ?? 0), 0);
}

/**
 * The decimal number that a sum of binary fractions stands for: 0.1 + 0.2 is 0.3. SQLite adds with compensation
 * (since 3.43), so the sum is off by no more than its own last bit, and no price has 12 decimals.
 */
function exact(usd: number): number {
  const scaled = Math.round(usd * PICO);
  return Number.isSafeInteger(scaled) ? scaled / PICO : usd;
}

const PICO = 1e12;

function entryOf(row: Selectable<RequestTable>): LedgerRow {
  return {
    id: row.id,
    startedAt: row.started_at,
    keyId: row.key_id,
    connectionId: row.connection_id,
    connection: row.connection,
    provider: row.provider,
    format: row.format,
    requestedModel: row.requested_model,
    model: row.model,
    status: row.status,
    outcome: row.outcome,
    errorCode: row.error_code,
    errorMessage: row.error_message,
    streamed: row.streamed === 1,
    usage: usageOf(row),
    estimated: row.estimated === 1,
    costUsd: row.cost_usd,
    priceSource: row.price_source,
    ttftMs: row.ttft_ms,
    durationMs: row.duration_ms,
    attempts: row.attempts,
    upstreamRequestId: row.upstream_request_id,
    userAgent: row.user_agent,
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
