import { GatewayError } from './error.ts';

/** Where and how telemetry is sent by OTLP/HTTP, as OpenTelemetry's own variables say. Times in milliseconds. */
export interface OtelSettings {
  /** Where each signal goes; null for one that is not sent. Addresses and headers may hold a secret. */
  traces: OtlpTarget | null;
  metrics: OtlpTarget | null;
  timeoutMs: number;
  gzip: boolean;
  serviceName: string;
  resourceAttributes: Readonly<Record<string, string>>;
  sampler: Sampler;
  batch: { delayMs: number; maxQueue: number; maxBatch: number };
  metricIntervalMs: number;
  /** What was asked for and is done in another way, for the log. */
  notes: readonly string[];
}

export interface OtlpTarget {
  url: string;
  headers: Readonly<Record<string, string>>;
}

/** Which requests are traced: `ratio` of those that nobody decided about, and what the client decided where `parentBased`. */
export interface Sampler {
  parentBased: boolean;
  /** 0 to 1. */
  ratio: number;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The variables that are read, for `gateway env`. */
export const otelVariables: readonly { name: string; summary: string; secret: boolean }[] = [
  {
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    summary: 'where traces and metrics are sent by OTLP/HTTP',
    secret: true,
  },
  { name: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', summary: 'the whole address for traces', secret: true },
  { name: 'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', summary: 'the whole address for metrics', secret: true },
  { name: 'OTEL_EXPORTER_OTLP_HEADERS', summary: 'headers of these requests: `name=value,…`', secret: true },
  { name: 'OTEL_EXPORTER_OTLP_TRACES_HEADERS', summary: 'the same for traces alone', secret: true },
  { name: 'OTEL_EXPORTER_OTLP_METRICS_HEADERS', summary: 'the same for metrics alone', secret: true },
  { name: 'OTEL_EXPORTER_OTLP_PROTOCOL', summary: '`http/json`', secret: false },
  { name: 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', summary: 'the same for traces alone', secret: false },
  { name: 'OTEL_EXPORTER_OTLP_METRICS_PROTOCOL', summary: 'the same for metrics alone', secret: false },
  { name: 'OTEL_EXPORTER_OTLP_TIMEOUT', summary: 'milliseconds that sending may take', secret: false },
  { name: 'OTEL_EXPORTER_OTLP_COMPRESSION', summary: '`gzip` or `none`', secret: false },
  { name: 'OTEL_TRACES_EXPORTER', summary: '`otlp` or `none`', secret: false },
  { name: 'OTEL_METRICS_EXPORTER', summary: '`otlp` or `none`', secret: false },
  { name: 'OTEL_TRACES_SAMPLER', summary: 'which requests are traced', secret: false },
  { name: 'OTEL_TRACES_SAMPLER_ARG', summary: 'the share of them, 0 to 1', secret: false },
  { name: 'OTEL_SERVICE_NAME', summary: 'the name of this gateway', secret: false },
  { name: 'OTEL_RESOURCE_ATTRIBUTES', summary: 'what else is said of it: `name=value,…`', secret: false },
  { name: 'OTEL_BSP_SCHEDULE_DELAY', summary: 'milliseconds between two batches of traces', secret: false },
  { name: 'OTEL_BSP_MAX_QUEUE_SIZE', summary: 'traced requests that may wait', secret: false },
  { name: 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE', summary: 'traced requests in one batch', secret: false },
  {
    name: 'OTEL_METRIC_EXPORT_INTERVAL',
    summary: 'milliseconds between two exports of metrics',
    secret: false,
  },
  { name: 'OTEL_SDK_DISABLED', summary: '`true` sends nothing', secret: false },
];

/**
 * Reads OpenTelemetry's variables (opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables); null where
 * no address is given.
 * @throws GatewayError `invalid_request` that names the variable; no value that may be secret is repeated
 */
export function readOtelVariables(env: Environment): OtelSettings | null {
  if (env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true') return null;
  const traces = targetOf(env, 'TRACES');
  const metrics = targetOf(env, 'METRICS');
  if (traces === null && metrics === null) return null;
  const attributes = pairsOf(env, 'OTEL_RESOURCE_ATTRIBUTES');
  const maxQueue = numberOf(env, 'OTEL_BSP_MAX_QUEUE_SIZE', 2048, 1_000_000);
  return {
    traces,
    metrics,
    timeoutMs: numberOf(env, 'OTEL_EXPORTER_OTLP_TIMEOUT', 10_000),
    gzip: env['OTEL_EXPORTER_OTLP_COMPRESSION'] === 'gzip',
    serviceName: env['OTEL_SERVICE_NAME'] || attributes['service.name'] || 'modelgate',
    resourceAttributes: attributes,
    sampler: samplerOf(env),
    batch: {
      delayMs: numberOf(env, 'OTEL_BSP_SCHEDULE_DELAY', 5000),
      maxQueue,
      maxBatch: Math.min(maxQueue, numberOf(env, 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512, 100_000)),
    },
    metricIntervalMs: numberOf(env, 'OTEL_METRIC_EXPORT_INTERVAL', 60_000),
    notes: protocolNotes(env),
  };
}

function targetOf(env: Environment, signal: 'TRACES' | 'METRICS'): OtlpTarget | null {
  const exporter = env[`OTEL_${signal}_EXPORTER`] || 'otlp';
  if (exporter === 'none') return null;
  if (exporter !== 'otlp') throw invalid(`OTEL_${signal}_EXPORTER`, 'must be otlp or none');
  const own = env[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`];
  const base = env['OTEL_EXPORTER_OTLP_ENDPOINT'];
  const name = own ? `OTEL_EXPORTER_OTLP_${signal}_ENDPOINT` : 'OTEL_EXPORTER_OTLP_ENDPOINT';
  const url = own || (base ? `${base.replace(/\/$/, '')}/v1/${signal.toLowerCase()}` : '');
  if (url === '') return null;
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url))
    throw invalid(name, 'must look like http://HOST:4318');
  const headers = pairsOf(env, 'OTEL_EXPORTER_OTLP_HEADERS');
  return { url, headers: { ...headers, ...pairsOf(env, `OTEL_EXPORTER_OTLP_${signal}_HEADERS`) } };
}

function samplerOf(env: Environment): Sampler {
  const name = env['OTEL_TRACES_SAMPLER'] || 'parentbased_always_on';
  const parentBased = name.startsWith('parentbased_');
  switch (name.replace(/^parentbased_/, '')) {
    case 'always_on':
      return { parentBased, ratio: 1 };
    case 'always_off':
      return { parentBased, ratio: 0 };
    case 'traceidratio': {
      const ratio = Number(env['OTEL_TRACES_SAMPLER_ARG'] || '1');
      if (ratio >= 0 && ratio <= 1) return { parentBased, ratio };
      throw invalid('OTEL_TRACES_SAMPLER_ARG', 'must be a number from 0 to 1');
    }
    default:
      throw invalid(
        'OTEL_TRACES_SAMPLER',
        'must be always_on, always_off or traceidratio, or one of them after parentbased_',
      );
  }
}

function protocolNotes(env: Environment): string[] {
  const protocols = ['', 'TRACES_', 'METRICS_'].map(
    (part) => env[`OTEL_EXPORTER_OTLP_${part}PROTOCOL`] ?? '',
  );
  if (protocols.includes('grpc'))
    throw invalid(
      'OTEL_EXPORTER_OTLP_PROTOCOL',
      'must be http/json: OTLP over gRPC (port 4317) is not spoken here',
    );
  return protocols.includes('http/protobuf')
    ? ['OTLP is sent as JSON, which receivers of http/protobuf take at the same address']
    : [];
}

/** `name=value,…`, with values percent-encoded where they hold a comma (W3C Baggage). */
function pairsOf(env: Environment, variable: string): Record<string, string> {
  const pairs = (env[variable] ?? '').split(',').filter((pair) => pair.trim() !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) throw invalid(variable, 'must look like name=value,name=value');
      return [pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())];
    }),
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function numberOf(env: Environment, variable: string, fallback: number, most = 86_400_000): number {
  const text = env[variable];
  if (text === undefined || text === '') return fallback;
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1 && number <= most) return number;
  throw invalid(variable, `must be a whole number from 1 to ${most}`);
}

function invalid(variable: string, what: string): GatewayError {
  return new GatewayError('invalid_request', `${variable} ${what}`, { param: variable });
}
