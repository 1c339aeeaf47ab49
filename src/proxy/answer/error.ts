import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { codecOf } from '../../codecs/index.ts';
import type { ErrorCode, GatewayError } from '../../lib/error.ts';
import { dialectOf, methodsOf } from '../inbound/routes.ts';

/** Seconds a client waits after a 429 that says nothing better; short, because some retry without end. */
const DEFAULT_RETRY_AFTER = 5;

/** Server errors that persist until the configuration is changed: SDKs would retry twice. */
const hopeless: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'loop_detected',
  'connection_unusable',
  'upstream_redirect',
]);

/**
 * Headers that an error must carry whatever its dialect: `retry-after` on every 429 (Codex gives up without),
 * `x-should-retry: false` where another try is in vain (Claude Code retries a 401 for minutes without), the challenge
 * (RFC 9110, 11.6.1).
 */
export function errorHeaders(error: GatewayError): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = { ...error.headers };
  if (error.status === 429) headers['retry-after'] = String(error.retryAfter ?? DEFAULT_RETRY_AFTER);
  else if (error.retryAfter !== null) headers['retry-after'] = String(error.retryAfter);
  if (error.status === 401 || hopeless.has(error.code)) headers['x-should-retry'] = 'false';
  if (error.status === 401) headers['www-authenticate'] = 'Bearer';
  // RFC 9110, 15.5.16: which codings would have been understood.
  if (error.code === 'unsupported_encoding') headers['accept-encoding'] = 'gzip, deflate, br, zstd';
  if (error.code === 'upgrade_required') headers['upgrade'] = 'websocket';
  return headers;
}

/** An error as the clients of `path` expect it; `received` are the headers of the request, where they are known. */
export function renderError(
  error: GatewayError,
  path: string,
  requestId: string,
  received?: IncomingHttpHeaders,
): { status: number; body: object; headers: OutgoingHttpHeaders } {
  const dialect = dialectOf(path, received);
  const body = codecOf(dialect).encodeError(error, requestId);
  const headers = errorHeaders(error);
  if (dialect === 'anthropic-messages') headers['request-id'] = requestId;
  const methods = error.code === 'method_not_allowed' ? methodsOf(path) : null;
  if (methods !== null) headers['allow'] = methods;
  return { status: error.status, body, headers };
}
