import type { ErrorKind, GatewayError } from '../../../lib/error.ts';
import type { ReportedError } from '../../codec.ts';
import { errorInAnswer } from '../../failures/error-in-answer.ts';
import { promptIsTooLong } from '../../failures/overflow.ts';
import { isObject, type JsonObject, objectOf, textOf } from '../../json/values.ts';
import { readVendorError } from '../../openai-shared/error.ts';
import { encodeFrame } from '../../stream/frames.ts';
import type { MessagesError, MessagesEvent } from '../wire.ts';

/** Anthropic API reference, "Errors". */
const typeOfKind: Readonly<Record<ErrorKind, string>> = {
  invalid_request: 'invalid_request_error',
  authentication: 'authentication_error',
  billing: 'billing_error',
  permission: 'permission_error',
  not_found: 'not_found_error',
  too_large: 'request_too_large',
  rate_limit: 'rate_limit_error',
  overloaded: 'overloaded_error',
  timeout: 'timeout_error',
  server: 'api_error',
};

export function encodeError(error: GatewayError, requestId: string): Record<string, unknown> {
  const message = error.code === 'context_length_exceeded' ? promptIsTooLong(error.message) : error.message;
  return {
    type: 'error',
    error: { type: typeOfKind[error.kind], message },
    request_id: requestId,
  };
}

/** An error in the vendor's shape: the SDKs recognize it by its type. */
export function errorBody(json: JsonObject): JsonObject | null {
  const { error, type }: MessagesEvent = json;
  const errorObject = objectOf<MessagesError>(error);
  const isOwn = type === 'error' && isObject(error) && textOf(errorObject.message) !== '';
  return isOwn && typeof errorObject.type === 'string' ? json : null;
}

export function encodeErrorFrame(error: GatewayError, requestId: string): string {
  return encodeFrame('error', encodeError(error, requestId));
}

/** Whether an event is an error: one by its type, or what some servers send in place of an event. */
export function isErrorEvent(event: MessagesEvent): boolean {
  return event.type === 'error' || (event.type === undefined && errorInAnswer(event) !== null);
}

/** The failure in an `error` event; its type decides the status, 529 for `overloaded_error`. */
export function readEventError(event: MessagesEvent | null, data: string): ReportedError {
  return readVendorError(event === null ? data : (event.error ?? event));
}
