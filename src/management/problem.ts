import { STATUS_CODES } from '../http/server/node-http.ts';
import type { ErrorKind, GatewayError } from '../lib/error.ts';

/** ManageIQ's words for what a failure is; its clients branch on them. */
const kinds: Readonly<Record<number, string>> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  409: 'conflict',
  412: 'precondition_failed',
  422: 'unprocessable_entity',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  421: 'misdirected_request',
  428: 'precondition_required',
  429: 'too_many_requests',
  503: 'service_unavailable',
};

/** What stands for ManageIQ's exception classes: the family of the failure. */
const classes: Readonly<Record<ErrorKind, string>> = {
  invalid_request: 'BadRequestError',
  authentication: 'AuthenticationError',
  billing: 'ForbiddenError',
  permission: 'ForbiddenError',
  not_found: 'NotFoundError',
  too_large: 'BadRequestError',
  rate_limit: 'TooManyRequestsError',
  overloaded: 'ServiceUnavailableError',
  timeout: 'TimeoutError',
  server: 'InternalServerError',
};

/**
 * An error of the management API: ManageIQ's object and a problem of RFC 9457 in one. `code` is the gateway's own word,
 * `param` is the wrong field.
 */
export function problem(error: GatewayError, requestId: string): Record<string, unknown> {
  const { code, kind, message, param, status } = error;
  return {
    error: { kind: kinds[status] ?? 'internal_server_error', message, klass: classes[kind] },
    type: 'about:blank',
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail: message,
    code,
    ...(param === null ? {} : { param }),
    request_id: requestId,
  };
}
