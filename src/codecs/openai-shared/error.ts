import type { ErrorCode, ErrorKind, GatewayError } from '../../lib/error.ts';
import type { ReportedError } from '../codec.ts';
import { errorInAnswer } from '../failures/error-in-answer.ts';
import { vendorMessage } from '../failures/vendor-message.ts';
import { numberOf } from '../json/lossless.ts';
import { isObject, type JsonObject, table, textOf } from '../json/values.ts';
import type { ChoiceChunk, WireError } from './wire.ts';

interface VendorError {
  type: string;
  /** The vendor's own code string, which clients branch on; null where it has none. */
  code: string | null;
}

const vendorErrors: Readonly<Record<ErrorKind, VendorError>> = {
  invalid_request: { type: 'invalid_request_error', code: null },
  authentication: { type: 'invalid_request_error', code: 'invalid_api_key' },
  billing: { type: 'insufficient_quota', code: 'insufficient_quota' },
  permission: { type: 'invalid_request_error', code: 'permission_denied' },
  not_found: { type: 'invalid_request_error', code: null },
  too_large: { type: 'invalid_request_error', code: 'request_too_large' },
  rate_limit: { type: 'rate_limit_error', code: 'rate_limit_exceeded' },
  overloaded: { type: 'server_error', code: null },
  timeout: { type: 'server_error', code: 'timeout' },
  server: { type: 'server_error', code: null },
};

/** Codes of the gateway that say more than the vendor's word for their kind. */
const keptCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['model_not_allowed']);

/** An HTTP error body of the OpenAI formats: `{"error":{"message","type","param","code"}}`. */
export function openAiError(error: GatewayError): Record<string, unknown> {
  const { type, code } = vendorErrors[error.kind];
  return {
    error: {
      message: error.message,
      type,
      param: error.param,
      code: error.vendorCode ?? (keptCodes.has(error.code) ? error.code : (code ?? error.code)),
    },
  };
}

/**
 * An error of OpenAI's shape. A number for a `code`, as OpenRouter and vLLM send it, becomes a word: clients that read it into a
 * typed field fail on the whole error otherwise.
 */
export function openAiErrorBody(json: JsonObject): JsonObject | null {
  const { error }: ChoiceChunk = json;
  if (!isObject(error)) return null;
  const errorValue: WireError = error;
  if (textOf(errorValue.message) === '') return null;
  const code = numberOf(errorValue.code);
  return code === null ? json : { ...json, error: { ...error, code: String(code) } };
}

const statusOfWord: Readonly<Record<string, number>> = table({
  invalid_request_error: 400,
  invalid_prompt: 400,
  context_length_exceeded: 400,
  content_filter: 400,
  authentication_error: 401,
  invalid_api_key: 401,
  billing_error: 402,
  permission_error: 403,
  permission_denied: 403,
  not_found_error: 404,
  model_not_found: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  too_many_requests: 429,
  insufficient_quota: 429,
  server_error: 500,
  api_error: 500,
  internal_error: 500,
  internal_server_error: 500,
  server_is_overloaded: 503,
  slow_down: 503,
  engine_overloaded: 503,
  service_unavailable: 503,
  overloaded: 503,
  overloaded_error: 529,
  timeout: 504,
  timeout_error: 504,
});

/** When an upstream names no cause that is known, it failed as an upstream: 502. */
const UNKNOWN_STATUS = 502;
const MAX_MESSAGE = 2_000;

/**
 * The failure in an error value of any vendor: an object with `message`, `type` and a `code` that is a word or a
 * number, or a bare string. A number from 400 to 599 is a status.
 */
export function readVendorError(value: unknown): ReportedError {
  if (!isObject(value)) return { status: UNKNOWN_STATUS, message: clip(textOf(value)) };
  const { error: nested }: WireError = value;
  const inAnswer = nested ? null : errorInAnswer(value);
  if (inAnswer !== null) {
    const { code, message, status } = inAnswer;
    return { status: status ?? statusOf({ ...value, code }), message: clip(message) };
  }
  const inner = isObject(nested) ? nested : value;
  return { status: statusOf(inner), message: clip(messageOf(inner) || textOf(nested)) };
}

function statusOf(error: WireError): number {
  for (const candidate of [error.status, error.status_code, error.code]) {
    const status = typeof candidate === 'string' ? Number(candidate) : (numberOf(candidate) ?? Number.NaN);
    if (Number.isInteger(status) && status >= 400 && status <= 599) return status;
  }
  for (const word of [error.code, error.type, error.status]) {
    const status = statusOfWord[textOf(word).toLowerCase()];
    if (status !== undefined) return status;
  }
  return UNKNOWN_STATUS;
}

function messageOf(error: WireError): string {
  return vendorMessage(error) || textOf(error.code) || textOf(error.type);
}

function clip(message: string): string {
  if (message === '') return 'The upstream reported an error without a message';
  return message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}…` : message;
}
