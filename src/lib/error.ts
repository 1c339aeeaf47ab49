/**
 * Every failure the gateway itself can report, as rows: `code` names it, `status` is the HTTP status,
 * `kind` is what the codecs turn into a dialect's own error type (gateways' tables: OpenAI `type`,
 * Anthropic `error.type`, Google `status`).
 */
export type ErrorKind =
  | 'invalid_request'
  | 'authentication'
  | 'billing'
  | 'permission'
  | 'not_found'
  | 'too_large'
  | 'rate_limit'
  | 'overloaded'
  | 'timeout'
  | 'server';

interface ErrorRow {
  status: number;
  kind: ErrorKind;
}

export const errorRows = {
  invalid_json: { status: 400, kind: 'invalid_request' },
  invalid_request: { status: 400, kind: 'invalid_request' },
  missing_model: { status: 400, kind: 'invalid_request' },
  duplicate_field: { status: 400, kind: 'invalid_request' },
  ambiguous_model: { status: 400, kind: 'invalid_request' },
  format_not_supported: { status: 400, kind: 'invalid_request' },
  not_translatable: { status: 400, kind: 'invalid_request' },
  context_length_exceeded: { status: 400, kind: 'invalid_request' },
  previous_response_not_found: { status: 400, kind: 'invalid_request' },
  invalid_event: { status: 400, kind: 'invalid_request' },
  no_combo_configured: { status: 400, kind: 'invalid_request' },
  unsupported_encoding: { status: 415, kind: 'invalid_request' },
  unsupported_content_type: { status: 415, kind: 'invalid_request' },
  invalid_api_key: { status: 401, kind: 'authentication' },
  budget_exceeded: { status: 402, kind: 'billing' },
  unpriced_model: { status: 402, kind: 'billing' },
  model_not_allowed: { status: 403, kind: 'permission' },
  not_found: { status: 404, kind: 'not_found' },
  model_not_found: { status: 404, kind: 'not_found' },
  method_not_allowed: { status: 405, kind: 'invalid_request' },
  unauthorized: { status: 401, kind: 'authentication' },
  forbidden: { status: 403, kind: 'permission' },
  reauthentication_required: { status: 403, kind: 'permission' },
  host_not_allowed: { status: 403, kind: 'permission' },
  loopback_only: { status: 403, kind: 'permission' },
  origin_not_allowed: { status: 403, kind: 'permission' },
  not_acceptable: { status: 415, kind: 'invalid_request' },
  conflict: { status: 409, kind: 'invalid_request' },
  idempotency_key_reused: { status: 422, kind: 'invalid_request' },
  precondition_failed: { status: 412, kind: 'invalid_request' },
  precondition_required: { status: 428, kind: 'invalid_request' },
  invalid_event_config: { status: 400, kind: 'invalid_request' },
  too_many_logins: { status: 429, kind: 'rate_limit' },
  request_timeout: { status: 408, kind: 'timeout' },
  request_too_large: { status: 413, kind: 'too_large' },
  headers_too_large: { status: 431, kind: 'invalid_request' },
  upgrade_required: { status: 426, kind: 'invalid_request' },
  http_version_not_supported: { status: 505, kind: 'invalid_request' },
  rate_limit_exceeded: { status: 429, kind: 'rate_limit' },
  loop_detected: { status: 508, kind: 'server' },
  client_closed: { status: 499, kind: 'invalid_request' },
  internal_error: { status: 500, kind: 'server' },
  database_busy: { status: 503, kind: 'overloaded' },
  database_unreachable: { status: 503, kind: 'overloaded' },
  budget_unavailable: { status: 503, kind: 'overloaded' },
  store_unavailable: { status: 503, kind: 'server' },
  audit_unavailable: { status: 503, kind: 'server' },
  connection_unusable: { status: 503, kind: 'server' },
  storage_key_missing: { status: 503, kind: 'server' },
  login_required: { status: 503, kind: 'server' },
  login_failed: { status: 502, kind: 'server' },
  credential_refresh_failed: { status: 502, kind: 'server' },
  event_not_accepted: { status: 503, kind: 'overloaded' },
  too_many_connections: { status: 503, kind: 'overloaded' },
  shutting_down: { status: 503, kind: 'overloaded' },
  data_plane_stopped: { status: 503, kind: 'overloaded' },
  service_stopped: { status: 503, kind: 'overloaded' },
  agent_busy: { status: 429, kind: 'rate_limit' },
  agent_failed: { status: 502, kind: 'server' },
  upstream_unreachable: { status: 502, kind: 'server' },
  upstream_redirect: { status: 502, kind: 'server' },
  upstream_protocol: { status: 502, kind: 'server' },
  upstream_cut: { status: 502, kind: 'server' },
  upstream_error: { status: 502, kind: 'server' },
  upstream_overloaded: { status: 503, kind: 'overloaded' },
  upstream_timeout: { status: 504, kind: 'timeout' },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof errorRows;

export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(errorRows, text);
}

export interface ErrorOptions {
  /** The request field at fault, e.g. `model`. */
  param?: string;
  /** Overrides the row's status, for a status that came from an upstream. */
  status?: number;
  /** Whole seconds for `retry-after`. */
  retryAfter?: number;
  /** What the vendor that failed calls it, for clients that branch on its word: `model_not_found`. */
  vendorCode?: string | null;
  /** Further headers of the answer. */
  headers?: Readonly<Record<string, string>>;
  cause?: unknown;
}

const none: Readonly<Record<string, string>> = Object.freeze({});

/** The one error class. Thrown anywhere below the surface, rendered once in the caller's dialect. */
export class GatewayError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly kind: ErrorKind;
  readonly param: string | null;
  readonly retryAfter: number | null;
  readonly vendorCode: string | null;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'GatewayError';
    this.code = code;
    this.status = options.status ?? errorRows[code].status;
    this.kind = options.status === undefined ? errorRows[code].kind : kindOfStatus(options.status);
    this.param = options.param ?? null;
    this.retryAfter = options.retryAfter ?? null;
    this.vendorCode = options.vendorCode ?? null;
    this.headers = options.headers ?? none;
  }
}

/** The kind of a failure that is known by its code and the status that it was answered with; `server` for a code of no row. */
export function errorKindOf(code: string, status: number): ErrorKind {
  if (!isErrorCode(code)) return 'server';
  const row = errorRows[code];
  return row.status === status ? row.kind : kindOfStatus(status);
}

/** The error kind that an HTTP status stands for when nothing better is known (RFC 9110, and 529 as Anthropic uses it). */
function kindOfStatus(status: number): ErrorKind {
  switch (status) {
    case 401:
      return 'authentication';
    case 402:
      return 'billing';
    case 403:
      return 'permission';
    case 404:
      return 'not_found';
    case 408:
    case 504:
      return 'timeout';
    case 413:
      return 'too_large';
    case 429:
      return 'rate_limit';
    case 503:
    case 529:
      return 'overloaded';
    default:
      return status >= 500 ? 'server' : 'invalid_request';
  }
}
