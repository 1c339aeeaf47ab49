import type { IncomingHttpHeaders } from 'node:http';
import type { WireFormat } from '../codecs/model.ts';
import type { Target } from '../combos/resolve.ts';
import { GatewayError } from '../lib/error.ts';

export interface UpstreamErrorInput {
  format: WireFormat;
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  target: Target;
}

export interface UpstreamError {
  error: GatewayError;
  /** The body to relay when it is already a proper error of the caller's dialect; null when it must be rendered anew. */
  body: Buffer | null;
}

/**
 * Reads an upstream's HTTP error, whatever its shape: a proper error of the dialect is kept byte for byte,
 * while HTML pages, empty bodies, `{"detail":…}` and bare strings become one that the caller's SDK can read.
 */
export function readUpstreamError({
  format,
  status,
  headers,
  body,
  target,
}: UpstreamErrorInput): UpstreamError {
  const clean = withoutCredential(body, target.connection.credential);
  const json = parse(clean);
  const said = messageIn(json);
  const message = said ?? describe(status, headers, clean, target);
  const error = new GatewayError('upstream_error', message, { status, ...retryAfter(headers) });
  return { error, body: isProper(format, json) ? clean : null };
}

function withoutCredential(body: Buffer, credential: string | null): Buffer {
  if (credential === null || credential === '' || !body.includes(credential)) return body;
  return Buffer.from(body.toString('utf8').replaceAll(credential, '[redacted]'));
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

function isProper(format: WireFormat, json: unknown): boolean {
  if (!isObject(json) || !isObject(json['error']) || typeof json['error']['message'] !== 'string')
    return false;
  return format !== 'anthropic-messages' || json['type'] === 'error';
}

/** The sentence inside the shapes that are seen in practice. */
function messageIn(json: unknown): string | undefined {
  if (typeof json === 'string') return json;
  const object = Array.isArray(json) ? json[0] : json;
  if (!isObject(object)) return undefined;
  const { detail, error, message, errors } = object;
  if (isObject(error) && typeof error['message'] === 'string') return error['message'];
  for (const text of [error, message, detail]) if (typeof text === 'string' && text !== '') return text;
  for (const list of [detail, errors]) {
    const first: unknown = Array.isArray(list) ? list[0] : undefined;
    if (typeof first === 'string') return first;
    if (isObject(first)) return String(first['msg'] ?? first['message'] ?? JSON.stringify(first));
  }
  return undefined;
}

function describe(status: number, headers: IncomingHttpHeaders, body: Buffer, { provider }: Target): string {
  const type = headers['content-type'] ?? '';
  const what =
    body.length === 0 ? 'an empty body' : type.includes('html') ? 'an HTML page' : 'a body that is not JSON';
  return `${provider.name} answered ${status} with ${what} instead of an API error`;
}

function retryAfter(headers: IncomingHttpHeaders): { retryAfter?: number } {
  const seconds = Number(headers['retry-after']);
  return Number.isFinite(seconds) && seconds > 0 ? { retryAfter: Math.ceil(seconds) } : {};
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
