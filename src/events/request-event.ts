import type { CloudEvent } from './cloudevents/event.ts';

/** What is told of a finished model request: names and numbers, never a text of it, and no credential. */
export interface FinishedRequest {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly durationMs: number;
  readonly ttftMs: number | null;
  readonly keyId: string | null;
  readonly connection: string | null;
  readonly provider: string | null;
  readonly requestedModel: string | null;
  readonly model: string | null;
  readonly status: number;
  readonly outcome: 'ok' | 'failed' | 'aborted';
  readonly errorCode: string | null;
  readonly streamed: boolean;
  readonly usage: { readonly input: number; readonly output: number } | null;
  readonly costUsd: number | null;
  readonly attempts: number;
}

const prefix = 'io.modelgate.request';

/** `…completed.v1` for an answered request, `…failed.v1` for one that failed or whose client left. */
export function requestEvent(request: FinishedRequest): CloudEvent {
  const { usage } = request;
  const data = {
    id: request.id,
    outcome: request.outcome,
    status: request.status,
    error_code: request.errorCode,
    key_id: request.keyId,
    requested_model: request.requestedModel,
    model: request.model,
    provider: request.provider,
    connection: request.connection,
    streamed: request.streamed,
    attempts: request.attempts,
    input_tokens: usage?.input ?? null,
    output_tokens: usage?.output ?? null,
    cost_usd: request.costUsd,
    ttft_ms: request.ttftMs,
    duration_ms: request.durationMs,
  };
  return {
    attributes: {
      specversion: '1.0',
      id: request.id,
      source: '/gateway/requests',
      type: request.outcome === 'ok' ? `${prefix}.completed.v1` : `${prefix}.failed.v1`,
      time: new Date(request.startedAt + request.durationMs).toISOString(),
      datacontenttype: 'application/json',
      status: request.status,
    },
    data: Buffer.from(JSON.stringify(data)),
  };
}
