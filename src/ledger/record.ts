import type { Value } from '../store/database.ts';
import type { Writer } from '../store/writer.ts';
import type { Journal } from './journal.ts';
import type { LedgerEntry } from './schema.ts';

export interface Ledger {
  /**
   * Queues one entry; it is in the database within a tenth of a second, and with a journal it survives this process from now on.
   * An id that is there already is not written again.
   */
  record(entry: LedgerEntry): void;
  /** The same for a row that a worker has written to its own journal. @param row its values, as `ledgerRow` makes them */
  recordJournaled(row: readonly Value[]): void;
}

type Use = Pick<
  LedgerEntry,
  | 'usage'
  | 'estimated'
  | 'servedTier'
  | 'finishReason'
  | 'rawFinishReason'
  | 'costUsd'
  | 'priceSource'
  | 'cacheSavingsUsd'
  | 'routingSavingsUsd'
>;

/** The columns for what was used, and the values for them. */
const useFields: readonly (readonly [string, (use: Use) => Value])[] = [
  ['input_tokens', (use) => use.usage?.input ?? null],
  ['cache_read_tokens', (use) => use.usage?.cacheRead ?? null],
  ['cache_write_5m_tokens', (use) => use.usage?.cacheWrite5m ?? null],
  ['cache_write_1h_tokens', (use) => use.usage?.cacheWrite1h ?? null],
  ['output_tokens', (use) => use.usage?.output ?? null],
  ['reasoning_tokens', (use) => use.usage?.reasoning ?? null],
  ['audio_input_tokens', (use) => use.usage?.audioInput ?? null],
  ['audio_output_tokens', (use) => use.usage?.audioOutput ?? null],
  ['image_input_tokens', (use) => use.usage?.imageInput ?? null],
  ['image_output_tokens', (use) => use.usage?.imageOutput ?? null],
  ['web_searches', (use) => use.usage?.webSearches ?? null],
  ['images', (use) => use.usage?.images ?? null],
  ['audio_seconds', (use) => use.usage?.audioSeconds ?? null],
  ['characters', (use) => use.usage?.characters ?? null],
  ['search_units', (use) => use.usage?.searchUnits ?? null],
  ['estimated', (use) => (use.estimated ? 1 : 0)],
  ['served_tier', (use) => use.servedTier],
  ['finish_reason', (use) => use.finishReason],
  ['raw_finish_reason', (use) => use.rawFinishReason],
  ['cost_usd', (use) => use.costUsd],
  ['price_source', (use) => use.priceSource],
  ['cache_savings_usd', (use) => use.cacheSavingsUsd],
  ['routing_savings_usd', (use) => use.routingSavingsUsd],
];

/** What was used, as a row has it. */
export function useColumns(use: Use): Record<string, Value> {
  return Object.fromEntries(useFields.map(([column, value]) => [column, value(use)]));
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
  ['dropped', ({ dropped }) => (dropped.length === 0 ? null : JSON.stringify(dropped))],
  ['status', (entry) => entry.status],
  ['outcome', (entry) => entry.outcome],
  ['error_code', (entry) => entry.errorCode],
  ['error_message', (entry) => entry.errorMessage],
  ['streamed', (entry) => (entry.streamed ? 1 : 0)],
  ['asked_tier', (entry) => entry.requestedTier],
  ...useFields,
  ['on_plan', ({ billing }) => (billing === 'plan' ? 1 : 0)],
  ['session', (entry) => entry.session],
  ['cached', (entry) => (entry.cached ? 1 : 0)],
  ['continued', (entry) => entry.continued],
  ['ttft_ms', (entry) => entry.ttftMs],
  ['duration_ms', (entry) => entry.durationMs],
  ['attempts', (entry) => entry.attempts],
  ['upstream_request_id', (entry) => entry.upstreamRequestId],
  ['user_agent', (entry) => entry.userAgent],
  ['tags', ({ tags }) => (tags.length === 0 ? null : JSON.stringify(tags))],
];

/** What the values of a row are called. */
export const ledgerColumns: readonly string[] = fields.map(([column]) => column);
const values = fields.map(([, value]) => value);

/** The values of an entry, as its row has them. */
export function ledgerRow(entry: LedgerEntry): readonly Value[] {
  return values.map((value) => value(entry));
}

/** @param journal keeps rows on the local disk until they are in the database */
export function createLedger(
  writer: Pick<Writer, 'push'>,
  journal: Pick<Journal, 'append'> | null = null,
): Ledger {
  return {
    record(entry) {
      const row = ledgerRow(entry);
      journal?.append(JSON.stringify(row));
      writer.push('requests', ledgerColumns, row);
    },
    recordJournaled: (row) => writer.push('requests', ledgerColumns, row),
  };
}
