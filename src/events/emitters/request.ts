import { inputTokens, outputTokens } from '../../ledger/buckets.ts';
import type { LedgerEntry } from '../../ledger/schema.ts';
import type { Emitter } from '../types/emitter.ts';

/**
 * Emits the event of a finished model request, if anybody subscribed to it: `request.completed`, or `request.failed` for one that
 * failed or whose client left. Names and numbers, never a text of it, and no credential.
 * @param entryOf gives what the ledger has of it; called only if anybody wants events of requests
 * @param traceparent as the client sent it
 */
export function emitRequest(emitter: Emitter, entryOf: () => LedgerEntry, traceparent: string | null): void {
  if (!emitter.wants('request.completed') && !emitter.wants('request.failed')) return;
  const entry = entryOf();
  const name = entry.outcome === 'ok' ? 'request.completed' : 'request.failed';
  if (!emitter.wants(name)) return;
  const { usage } = entry;
  emitter.emit(name, {
    subject: entry.id,
    partitionKey: entry.keyId,
    traceparent,
    extensions: { status: entry.status },
    data: {
      id: entry.id,
      outcome: entry.outcome,
      status: entry.status,
      error_code: entry.errorCode,
      key_id: entry.keyId,
      requested_model: entry.requestedModel,
      model: entry.model,
      provider: entry.provider,
      connection: entry.connection,
      streamed: entry.streamed,
      attempts: entry.attempts,
      input_tokens: usage === null ? null : inputTokens(usage),
      output_tokens: usage === null ? null : outputTokens(usage),
      cost_usd: entry.costUsd,
      ttft_ms: entry.ttftMs,
      duration_ms: entry.durationMs,
    },
  });
}
