import type { ErrorKind, GatewayError } from '../../lib/error.ts';

/** Google's canonical error names (google.rpc.Code) for each kind of failure. */
const statusOfKind: Readonly<Record<ErrorKind, string>> = {
  invalid_request: 'INVALID_ARGUMENT',
  authentication: 'UNAUTHENTICATED',
  billing: 'RESOURCE_EXHAUSTED',
  permission: 'PERMISSION_DENIED',
  not_found: 'NOT_FOUND',
  too_large: 'INVALID_ARGUMENT',
  rate_limit: 'RESOURCE_EXHAUSTED',
  overloaded: 'UNAVAILABLE',
  timeout: 'DEADLINE_EXCEEDED',
  server: 'INTERNAL',
};

/** `{"error":{"code","message","status"}}`, with when to try again as Google's `RetryInfo`, for its clients read no header. */
export function encodeError(error: GatewayError): Record<string, unknown> {
  const retry = error.retryAfter;
  const details =
    retry === null
      ? {}
      : { details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${retry}s` }] };
  return {
    error: { code: error.status, message: error.message, status: statusOfKind[error.kind], ...details },
  };
}
