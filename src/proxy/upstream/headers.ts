import type { IncomingHttpHeaders } from 'node:http';
import type { WireFormat } from '../../codecs/wire-format.ts';
import type { Target } from '../../combos/routing/resolve.ts';
import { keyHeaders } from '../../connections/credentials/authorise.ts';
import { viaHeader } from '../inbound/loop.ts';

/**
 * Never forwarded upstream: hop-by-hop fields (RFC 9110, 7.6.1), what this hop sets itself, every place a
 * client's credential can stand, cookies, and traces of the client's network position.
 */
const neverForwarded = new Set([
  'content-type',
  'x-http-method-override',
  'x-method-override',
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'host',
  'content-length',
  'content-encoding',
  'accept-encoding',
  'authorization',
  'proxy-authorization',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
  'x-auth-token',
  'cookie',
  'forwarded',
  'via',
  'x-real-ip',
  'x-client-ip',
  'true-client-ip',
  'cf-connecting-ip',
  'x-original-url',
  'x-rewrite-url',
  'x-request-id',
  'origin',
  'referer',
  'openai-organization',
  'openai-project',
  viaHeader,
]);

const neverForwardedPrefix = /^(?:x-gateway-|x-forwarded-|sec-)/;

/** What goes to a vendor that the client's own headers were not written for. */
const standard = new Set([
  'accept',
  'accept-language',
  'user-agent',
  'traceparent',
  'tracestate',
  'idempotency-key',
  'anthropic-version',
  'anthropic-beta',
  'openai-beta',
]);

/** Never forwarded to the client: this hop's own matters, cookies, and who owns the upstream account. */
const neverReturned = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'content-length',
  'content-encoding',
  'date',
  'server',
  'via',
  'set-cookie',
  'alt-svc',
  'strict-transport-security',
  'report-to',
  'reporting-endpoints',
  'nel',
  'content-security-policy',
  'www-authenticate',
  'x-request-id',
  'openai-organization',
  'openai-project',
  'anthropic-organization-id',
]);

export interface UpstreamHeadersInput {
  /** As received: name, value, name, value … */
  raw: readonly string[];
  target: Target;
  format: WireFormat;
  /** The request was translated: what the client's vendor defined means nothing to this one. */
  translated: boolean;
  /** What the body is: the upstream must read it as the gateway did, whatever the client called it. */
  contentType: string;
  via: string;
  requestId: string;
  /** What is sent instead of the client's `traceparent`; null sends that as it is. */
  traceparent: string | null;
}

/**
 * The headers of the upstream request, flat. The connection's key replaces whatever the client sent; a credential that
 * is more than a key is added when the request is sent (`authorized.ts`).
 */
export function upstreamHeaders({
  raw,
  target,
  format,
  translated,
  contentType,
  via,
  requestId,
  traceparent,
}: UpstreamHeadersInput): string[] {
  const { provider, connection } = target;
  const headers: string[] = [];
  const providerHeaders = Object.entries(provider.headers ?? {});
  const requestConnectionFields = connectionOptions(raw);
  // The state belongs to the client's trace, which is not gone on with where its `traceparent` is none.
  const traceId = traceparent?.slice(3, 35) ?? '';
  const keepsTrace = traceparent === null || raw.some((value) => value.includes(traceId));
  const unsupportedHeaders = provider.modelInPath?.[format]?.withoutHeaders ?? [];
  // Most headers of an SDK mean nothing to another vendor, which is the cheapest to see.
  const standardOnly = translated || provider.forwardHeaders === 'standard';
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = raw[index]?.toLowerCase() ?? '';
    const value = raw[index + 1] ?? '';
    if (standardOnly && !standard.has(name)) continue;
    if (neverForwarded.has(name) || requestConnectionFields.has(name) || neverForwardedPrefix.test(name))
      continue;
    if (translated && name === 'accept') continue;
    if (isForeign(name, format, translated)) continue;
    if (unsupportedHeaders.includes(name)) continue;
    if (traceparent !== null && name === 'traceparent') continue;
    if (!keepsTrace && name === 'tracestate') continue;
    headers.push(name, value);
  }
  const missingHeaders = providerHeaders.filter(([name]) => !hasName(headers, name));
  headers.push('content-type', contentType);
  for (const [name, value] of missingHeaders) headers.push(name, value);
  headers.push(viaHeader, via, 'x-request-id', requestId);
  if (traceparent !== null) headers.push('traceparent', traceparent);
  const auth = provider.formatAuth?.[format] ?? provider.auth;
  for (const [name, value] of Object.entries(keyHeaders(connection, auth))) headers.push(name, value);
  return headers;
}

/** @param headers flat */
function hasName(headers: readonly string[], name: string): boolean {
  return headers.some((text, index) => index % 2 === 0 && text === name);
}

/** Whether a header names features of another vendor's API than the one that is asked. */
function isForeign(name: string, format: WireFormat, translated: boolean): boolean {
  if (name.startsWith('anthropic-')) return translated || format !== 'anthropic-messages';
  if (name.startsWith('openai-')) return translated || !format.startsWith('openai-');
  return false;
}

const noOptions: ReadonlySet<string> = new Set();

/** The fields that `Connection` names, which belong to one hop as it does (RFC 9110, 7.6.1). */
function connectionOptions(raw: readonly string[]): ReadonlySet<string> {
  let options = noOptions;
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const value = raw[index + 1] ?? '';
    if (raw[index]?.length !== 10 || value === 'keep-alive' || raw[index]?.toLowerCase() !== 'connection')
      continue;
    options = new Set([...options, ...optionsIn(value)]);
  }
  return options;
}

function optionsIn(connection: string): ReadonlySet<string> {
  if (connection === '' || connection === 'keep-alive' || connection === 'close') return noOptions;
  return new Set(connection.split(',').map((name) => name.trim().toLowerCase()));
}

/** The upstream's headers as the client may see them, flat, without any about the body's length or encoding. */
export function clientHeaders(status: number, upstream: IncomingHttpHeaders): string[] {
  const headers: string[] = [];
  const responseConnectionFields = optionsIn(String(upstream.connection ?? ''));
  for (const name in upstream) {
    if (neverReturned.has(name) || responseConnectionFields.has(name) || isOwn(name)) continue;
    const value = upstream[name];
    if (typeof value === 'string') headers.push(name, value);
    else if (value !== undefined) for (const one of value) headers.push(name, one);
  }
  const upstreamId = upstream['x-request-id'];
  if (typeof upstreamId === 'string') headers.push('x-upstream-request-id', upstreamId);
  if (status === 429 && upstream['retry-after'] === undefined)
    headers.push('retry-after', defaultRetryAfter(upstream));
  if (status === 401 && upstream['x-should-retry'] === undefined) headers.push('x-should-retry', 'false');
  return headers;
}

function isOwn(name: string): boolean {
  return name.startsWith('x-gateway-') || name.startsWith('access-control-') || name.startsWith('cf-');
}

/** Codex gives up on a 429 without `retry-after`, so there always is one: the vendor's finer hint, else 5 s. */
function defaultRetryAfter(upstream: IncomingHttpHeaders): string {
  const milliseconds = Number(upstream['retry-after-ms']);
  return milliseconds > 0 ? String(Math.ceil(milliseconds / 1000)) : '5';
}
