import { hostname } from 'node:os';
import type { Trace } from '../../combos/trace.ts';
import type { LedgerEntry } from '../../ledger/schema.ts';
import type { Log } from '../../lib/log.ts';
import type { OtelSettings } from '../../lib/otel-variables.ts';
import type { MetricFamily } from '../metrics/family.ts';
import { attributesOf } from './attributes.ts';
import { createGenAiMetrics } from './gen-ai-metrics.ts';
import { otlpMetrics } from './metrics.ts';
import { createOtlpSender, type OtlpSender } from './sender.ts';
import { type AddressOf, spansOf, type TracedRequest } from './spans.ts';
import { outgoingTraceparent, traceContext } from './trace-context.ts';

/** What a finished request is described by. */
export interface FinishedRequest {
  entry: LedgerEntry;
  trace: Trace | null;
  method: string;
  /** Without the query and without a key. */
  path: string;
  keyName: string;
  /** What the client sent, as it came. */
  traceparent: string | null;
}

/** Traces and metrics of a running gateway, sent by OTLP/HTTP in the background. */
export interface OpenTelemetry {
  /** The `traceparent` of an attempt at an upstream, counted from 1. */
  traceparent(requestId: string, clientTraceparent: string | null, attempt: number): string;
  /** Queues what is sent of a request. Only counts and queues: nothing is encoded here. */
  record(finished: FinishedRequest): void;
  /** Traced requests that could not be sent. */
  dropped(): number;
  /** Sends what waits, for a few seconds at most, and stops. */
  close(): Promise<void>;
}

export interface OpenTelemetryInput {
  settings: OtelSettings;
  version: string;
  /** Names this process among the gateways of one service. */
  instance: string;
  /** All other figures, as they are at this moment. */
  families(): Promise<readonly MetricFamily[]>;
  addressOf: AddressOf;
  log: Log;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** What is left for the last batch at the end of the process. */
const CLOSE_MS = 3000;
/** Requests described in one turn of the event loop: more would hold up others. */
const SLICE = 32;
const REPORT_MS = 60_000;

export function openTelemetry(input: OpenTelemetryInput): OpenTelemetry {
  const { log, now, settings } = input;
  const { batch, sampler } = settings;
  for (const note of settings.notes) log.warn(note);
  const started = now();
  const queue: TracedRequest[] = [];
  const genAi = createGenAiMetrics();
  const tracer = senderOf(settings.traces, settings);
  const meter = senderOf(settings.metrics, settings);
  const resource = { attributes: attributesOf(resourceOf(input)) };
  const scope = { name: 'modelgate', version: input.version };
  const failures = createFailures(log, now);
  let dropped = 0;
  let sending: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;

  const contextOf = (id: string, traceparent: string | null) =>
    traceContext(id, traceparent, input.instance, sampler);

  const sendBatch = async (sender: OtlpSender): Promise<void> => {
    const requests = queue.splice(0, batch.maxBatch);
    const spans = [];
    for (let index = 0; index < requests.length; index += SLICE) {
      if (index > 0) await new Promise(setImmediate);
      for (const request of requests.slice(index, index + SLICE))
        spans.push(...spansOf(request, input.addressOf));
    }
    const body = { resourceSpans: [{ resource, scopeSpans: [{ scope, spans }] }] };
    await sender.send(body).catch((error: unknown) => {
      dropped += requests.length;
      failures.report('traces', error);
    });
  };
  const drain = async (): Promise<void> => {
    if (tracer !== null) while (queue.length > 0) await sendBatch(tracer);
  };
  const flush = (): Promise<void> => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    sending ??= drain().finally(() => {
      sending = null;
    });
    return sending;
  };
  const sendMetrics = async (): Promise<void> => {
    if (meter === null) return;
    try {
      const families = [...(await input.families()), ...genAi.families()];
      const metrics = otlpMetrics(families, started, now());
      await meter.send({ resourceMetrics: [{ resource, scopeMetrics: [{ scope, metrics }] }] });
    } catch (error) {
      failures.report('metrics', error);
    }
  };
  let exporting: Promise<void> | null = null;
  const exportMetrics = (): Promise<void> => {
    exporting ??= sendMetrics().finally(() => {
      exporting = null;
    });
    return exporting;
  };
  const metricTimer = meter === null ? null : setInterval(exportMetrics, settings.metricIntervalMs).unref();

  return {
    traceparent: (id, client, attempt) => outgoingTraceparent(contextOf(id, client), attempt),
    record({ entry, keyName, method, path, trace, traceparent }) {
      if (meter !== null) genAi.count(entry, trace);
      if (tracer === null) return;
      const context = contextOf(entry.id, traceparent);
      if (!context.sampled) return;
      if (queue.length >= batch.maxQueue) {
        dropped += 1;
        failures.report('traces', new Error('more requests end than can be sent'));
        return;
      }
      queue.push({ entry, attempts: trace?.attempts ?? [], method, path, keyName, context });
      if (queue.length >= batch.maxBatch) void flush();
      else timer ??= setTimeout(flush, batch.delayMs).unref();
    },
    dropped: () => dropped,
    async close() {
      if (metricTimer !== null) clearInterval(metricTimer);
      const enough = new Promise((resolve) => setTimeout(resolve, CLOSE_MS).unref());
      await Promise.race([Promise.all([flush(), exportMetrics()]), enough]);
      await Promise.all([tracer?.close(), meter?.close()]);
      if (queue.length > 0) log.warn({ requests: queue.length }, 'traces were not sent before the end');
    },
  };
}

function senderOf(target: OtelSettings['traces'], { gzip, timeoutMs }: OtelSettings): OtlpSender | null {
  return target === null ? null : createOtlpSender({ target, gzip, timeoutMs });
}

function resourceOf({ instance, settings, version }: OpenTelemetryInput): Record<string, string | number> {
  return {
    'service.version': version,
    'service.instance.id': instance,
    'host.name': hostname(),
    'process.pid': process.pid,
    'process.runtime.name': 'nodejs',
    'process.runtime.version': process.versions.node,
    'telemetry.sdk.name': 'modelgate',
    'telemetry.sdk.language': 'nodejs',
    'telemetry.sdk.version': version,
    ...settings.resourceAttributes,
    'service.name': settings.serviceName,
  };
}

/** A receiver that is away is told of once a minute. */
function createFailures(log: Log, now: () => number) {
  const reported = new Map<string, number>();
  return {
    report(signal: 'traces' | 'metrics', error: unknown): void {
      const last = reported.get(signal);
      if (last !== undefined && now() - last < REPORT_MS) return;
      reported.set(signal, now());
      log.warn(
        { signal, error: error instanceof Error ? error.message : String(error) },
        'telemetry cannot be sent',
      );
    },
  };
}
