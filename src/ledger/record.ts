import type { Value } from '../store/database.ts';
import type { Writer } from '../store/writer.ts';
import type { LedgerEntry } from './schema.ts';

export interface Ledger {
  /** Queues one entry; it is on disk within a tenth of a second. An id that is there already is not written again. */
  record(entry: LedgerEntry): void;
}

/** Column and the entry's value for it, side by side so that they cannot drift apart. */
const fields: readonly (readonly [string, (entry: LedgerEntry) => Value])[] = [
  ['id', (entry) => entry.id],
  ['started_at', (entry) => entry.startedAt],
  ['key_id', (entry) => entry.keyId],
  ['connection_id', (entry) => entry.connectionId],
  ['connection', (entry) => entry.connection],
  ['provider', (entry) => entry.provider],
  ['format', (entry) => entry.format],
  ['requested_model', (entry) => entry.requestedModel],
  ['combo_id', (entry) => entry.comboId],
  [
    'inner_combo_ids',
    ({ innerComboIds }) => (innerComboIds.length === 0 ? null : JSON.stringify(innerComboIds)),
  ],
  ['model', (entry) => entry.model],
  ['status', (entry) => entry.status],
  ['outcome', (entry) => entry.outcome],
  ['error_code', (entry) => entry.errorCode],
  ['error_message', (entry) => entry.errorMessage],
  ['streamed', (entry) => (entry.streamed ? 1 : 0)],
  ['input_tokens', (entry) => entry.usage?.input ?? null],
  ['cache_read_tokens', (entry) => entry.usage?.cacheRead ?? null],
  ['cache_write_5m_tokens', (entry) => entry.usage?.cacheWrite5m ?? null],
  ['cache_write_1h_tokens', (entry) => entry.usage?.cacheWrite1h ?? null],
  ['output_tokens', (entry) => entry.usage?.output ?? null],
  ['reasoning_tokens', (entry) => entry.usage?.reasoning ?? null],
  ['audio_input_tokens', (entry) => entry.usage?.audioInput ?? null],
  ['audio_output_tokens', (entry) => entry.usage?.audioOutput ?? null],
  ['image_input_tokens', (entry) => entry.usage?.imageInput ?? null],
  ['image_output_tokens', (entry) => entry.usage?.imageOutput ?? null],
  ['web_searches', (entry) => entry.usage?.webSearches ?? null],
  ['images', (entry) => entry.usage?.images ?? null],
  ['audio_seconds', (entry) => entry.usage?.audioSeconds ?? null],
  ['characters', (entry) => entry.usage?.characters ?? null],
  ['search_units', (entry) => entry.usage?.searchUnits ?? null],
  ['estimated', (entry) => (entry.estimated ? 1 : 0)],
  ['cached', (entry) => (entry.cached ? 1 : 0)],
  ['continued', (entry) => entry.continued],
  ['cost_usd', (entry) => entry.costUsd],
  ['price_source', (entry) => entry.priceSource],
  ['ttft_ms', (entry) => entry.ttftMs],
  ['duration_ms', (entry) => entry.durationMs],
  ['attempts', (entry) => entry.attempts],
  ['upstream_request_id', (entry) => entry.upstreamRequestId],
  ['user_agent', (entry) => entry.userAgent],
];

const columns = fields.map(([column]) => column);
const values = fields.map(([, value]) => value);

export function createLedger(writer: Pick<Writer, 'push'>): Ledger {
  return {
    record: (entry) =>
      writer.push(
        'requests',
        columns,
        values.map((value) => value(entry)),
      ),
  };
}
