import { hash } from 'node:crypto';
import type { Sampler } from '../../lib/otel-variables.ts';

/** Where one request stands in a trace. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** Of the gateway's own span, 16 hexadecimal digits. */
  spanId: string;
  /** The client's span; null where the trace begins here. */
  parentSpanId: string | null;
  sampled: boolean;
  /** The span of an attempt at an upstream, counted from 1. */
  attemptSpanId(attempt: number): string;
}

/**
 * The trace of a request. All ids but the client's follow from the request's own id and `salt`, so that nothing has to be
 * kept between sending a request upstream and describing it once it has ended.
 * @param traceparent what the client sent (W3C Trace Context), as it came; null for nothing
 */
export function traceContext(
  requestId: string,
  traceparent: string | null,
  salt: string,
  sampler: Sampler,
): TraceContext {
  const digest = hash('sha256', `${salt} ${requestId}`, 'hex');
  const parent = parentOf(traceparent);
  const traceId = parent?.traceId ?? digest.slice(0, 32);
  return {
    traceId,
    spanId: nonZero(digest.slice(32, 48)),
    parentSpanId: parent?.spanId ?? null,
    sampled: isSampled(traceId, parent?.sampled ?? null, sampler),
    attemptSpanId: (attempt) => `${digest.slice(48, 60)}${(attempt & 0xffff).toString(16).padStart(4, '0')}`,
  };
}

/** The `traceparent` under which an attempt goes upstream. */
export function outgoingTraceparent(context: TraceContext, attempt: number): string {
  return `00-${context.traceId}-${context.attemptSpanId(attempt)}-${context.sampled ? '01' : '00'}`;
}

const pattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

interface Parent {
  traceId: string;
  spanId: string;
  sampled: boolean;
}

/** Null for what is no valid `traceparent` (W3C Trace Context, 3.2): then a trace begins here. */
export function parentOf(traceparent: string | null): Parent | null {
  const match = traceparent === null ? null : pattern.exec(traceparent.trim());
  if (match === null) return null;
  const [, version, traceId = '', spanId = '', flags = '', rest] = match;
  if (version === 'ff' || (version === '00' && rest !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** By the last 56 bits of the trace's id, which are random (OpenTelemetry, TraceIdRatioBased), so that all gateways agree. */
function isSampled(traceId: string, parent: boolean | null, { parentBased, ratio }: Sampler): boolean {
  if (parentBased && parent !== null) return parent;
  if (ratio >= 1) return true;
  return Number.parseInt(traceId.slice(18, 31), 16) / 2 ** 52 < ratio;
}

function nonZero(id: string): string {
  return /^0+$/.test(id) ? '0000000000000001' : id;
}
