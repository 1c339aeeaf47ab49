import type { TracedAttempt } from '../../combos/trace.ts';
import { inputTokens, outputTokens } from '../../ledger/buckets.ts';
import type { LedgerEntry } from '../../ledger/schema.ts';
import { attributesOf, nanoseconds, type OtlpAttribute } from './attributes.ts';
import { operationOf, providerNameOf, routeOf } from './gen-ai.ts';
import type { TraceContext } from './trace-context.ts';

/** A finished request that is traced. */
export interface TracedRequest {
  entry: LedgerEntry;
  attempts: readonly TracedAttempt[];
  method: string;
  /** Without the query and without a key. */
  path: string;
  keyName: string;
  context: TraceContext;
}

/** A span as OTLP writes it in JSON. */
export interface OtlpSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  flags: number;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: OtlpAttribute[];
  status: { code?: number };
}

/** Numbers of `Span.SpanKind` and `Status.StatusCode` in OTLP's schema. */
const kinds = { server: 2, client: 3 } as const;
const ERROR = 2;

/** Where an upstream is; null where that is not known. */
export type AddressOf = (connectionId: string) => { address: string; port: number } | null;

/** The span of a request, and one below it for each attempt at an upstream. Neither holds any of what was said. */
export function spansOf(request: TracedRequest, addressOf: AddressOf): OtlpSpan[] {
  return [serverSpan(request), ...request.attempts.map((_, index) => attemptSpan(request, index, addressOf))];
}

function serverSpan({ context, entry, keyName, method, path }: TracedRequest): OtlpSpan {
  const route = routeOf(entry.format, entry.streamed);
  return {
    traceId: context.traceId,
    spanId: context.spanId,
    ...(context.parentSpanId === null ? {} : { parentSpanId: context.parentSpanId }),
    flags: Number(context.sampled),
    name: `${method} ${route}`,
    kind: kinds.server,
    startTimeUnixNano: nanoseconds(entry.startedAt),
    endTimeUnixNano: nanoseconds(entry.startedAt + entry.durationMs),
    attributes: attributesOf({
      'http.request.method': method,
      'http.route': route,
      'http.response.status_code': entry.status,
      'url.path': path,
      'url.scheme': 'http',
      'user_agent.original': entry.userAgent,
      'error.type': entry.outcome === 'ok' ? null : entry.errorCode,
      'modelgate.request.id': entry.id,
      'modelgate.request.format': entry.format,
      'modelgate.request.model': entry.requestedModel,
      'modelgate.outcome': entry.outcome,
      'modelgate.key.id': entry.keyId,
      'modelgate.key.name': keyName,
      'modelgate.combo.id': entry.comboId,
      'modelgate.connection': entry.connection,
      'modelgate.provider': entry.provider,
      'modelgate.model': entry.model,
      'modelgate.attempts': entry.attempts,
      'modelgate.cached': entry.cached,
      'modelgate.cost_usd': entry.costUsd,
    }),
    // What is wrong with a request is no error of the server (semantic conventions for HTTP, "Status").
    status: entry.status >= 500 ? { code: ERROR } : {},
  };
}

function attemptSpan(
  { attempts, context, entry }: TracedRequest,
  index: number,
  addressOf: AddressOf,
): OtlpSpan {
  const attempt = attempts[index];
  if (attempt === undefined) throw new Error(`the request has no attempt ${index}`);
  const operation = operationOf(entry.format);
  const start = entry.startedAt + attempt.startedMs;
  const used = index === attempts.length - 1 ? entry.usage : null;
  const at = addressOf(attempt.connectionId);
  return {
    traceId: context.traceId,
    spanId: context.attemptSpanId(index + 1),
    parentSpanId: context.spanId,
    flags: Number(context.sampled),
    name: `${operation} ${attempt.model}`,
    kind: kinds.client,
    startTimeUnixNano: nanoseconds(start),
    endTimeUnixNano: nanoseconds(start + attempt.durationMs),
    attributes: attributesOf({
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': providerNameOf(attempt.provider),
      'gen_ai.request.model': attempt.model,
      'gen_ai.request.stream': entry.streamed ? true : null,
      'gen_ai.response.time_to_first_chunk': firstChunk(entry, attempt),
      'gen_ai.usage.input_tokens': used === null ? null : inputTokens(used),
      'gen_ai.usage.output_tokens': used === null ? null : outputTokens(used),
      'gen_ai.usage.cache_read.input_tokens': used?.cacheRead || null,
      'gen_ai.usage.cache_creation.input_tokens':
        used === null ? null : used.cacheWrite5m + used.cacheWrite1h || null,
      'gen_ai.usage.reasoning.output_tokens': used?.reasoning || null,
      'server.address': at?.address,
      'server.port': at?.port,
      'http.response.status_code': attempt.status,
      'error.type': attempt.error?.code,
      'modelgate.connection': attempt.connection,
      'modelgate.outcome': attempt.outcome,
    }),
    status: attempt.outcome === 'failed' ? { code: ERROR } : {},
  };
}

/** Seconds from sending the request to the first content, of the stream that answered. */
function firstChunk({ streamed, ttftMs }: LedgerEntry, { outcome, startedMs }: TracedAttempt): number | null {
  if (!streamed || ttftMs === null || outcome !== 'answered') return null;
  return Math.max(0, ttftMs - startedMs) / 1000;
}
