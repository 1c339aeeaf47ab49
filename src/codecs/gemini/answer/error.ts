import type { ErrorKind, GatewayError } from '../../../lib/error.ts';
import type { Frame } from '../../../lib/streams/sse.ts';
import type { ReportedError } from '../../codec.ts';
import { numberOf } from '../../json/lossless.ts';
import { type JsonObject, listOf, objectOf, table, textOf } from '../../json/values.ts';
import { readVendorError } from '../../openai-shared/error.ts';
import { encodeFrame } from '../../stream/frames.ts';
import type { ErrorDetail, GeminiAnswer, GoogleError } from '../wire.ts';
import { chunksIn, errorIn } from './chunk.ts';

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

/** An error of its shape: Google's own clients need the number, and the name of the status beside it. */
export function errorBody(json: JsonObject): JsonObject | null {
  const { error }: GeminiAnswer = json;
  const { code, message, status } = objectOf<GoogleError>(error);
  if (textOf(message) === '') return null;
  return numberOf(code) !== null && typeof status === 'string' ? json : null;
}

/** An error as the last chunk of a stream, without a `finishReason`. */
export function encodeErrorFrame(error: GatewayError): string {
  return encodeFrame('', encodeError(error));
}

/** What the names of google.rpc.Code mean in HTTP (google/rpc/code.proto). */
const statusOfName: Readonly<Record<string, number>> = table({
  CANCELLED: 499,
  UNKNOWN: 500,
  INVALID_ARGUMENT: 400,
  DEADLINE_EXCEEDED: 504,
  NOT_FOUND: 404,
  ALREADY_EXISTS: 409,
  PERMISSION_DENIED: 403,
  UNAUTHENTICATED: 401,
  RESOURCE_EXHAUSTED: 429,
  FAILED_PRECONDITION: 400,
  ABORTED: 409,
  OUT_OF_RANGE: 400,
  UNIMPLEMENTED: 501,
  INTERNAL: 500,
  UNAVAILABLE: 503,
  DATA_LOSS: 500,
});

/** The failure in a chunk or body: `{"error":{code,message,status,details}}`, or the array that a stream of it is. */
export function readError(frame: Pick<Frame, 'data'>): ReportedError {
  const failed = chunksIn(frame.data)
    ?.map(errorIn)
    .find((error) => error !== null);
  return failed === undefined || failed === null ? readVendorError(frame.data) : readGoogleError(failed);
}

/** The failure in Google's error object, which has the status 400 for an invalid key. */
function readGoogleError(error: GoogleError | string): ReportedError {
  const reported = readVendorError(error);
  if (typeof error === 'string') return reported;
  if (detailsOf(error).invalidKey) return { ...reported, status: 401 };
  const { code, status } = error;
  const number = numberOf(code) ?? 0;
  const isStatus = number >= 400 && number <= 599;
  const statusByName = statusOfName[textOf(status)];
  return isStatus || statusByName === undefined ? reported : { ...reported, status: statusByName };
}

/** What the details of Google's error object say beside its message. */
export interface ErrorDetails {
  invalidKey: boolean;
  /** Whole seconds after which to try again (`RetryInfo`, because the servers send no header); null if it names none. */
  retryAfter: number | null;
}

export function detailsOf(error: GoogleError): ErrorDetails {
  const details = listOf(error.details).map(objectOf<ErrorDetail>);
  const delay = /^(\d+(?:\.\d+)?)s$/.exec(textOf(details.find(isRetryInfo)?.retryDelay))?.[1];
  const seconds = Math.ceil(Number(delay ?? 0));
  return {
    invalidKey: details.some((detail) => detail.reason === 'API_KEY_INVALID'),
    retryAfter: seconds > 0 && Number.isSafeInteger(seconds) ? seconds : null,
  };
}

function isRetryInfo(detail: ErrorDetail): boolean {
  return textOf(detail['@type']).endsWith('google.rpc.RetryInfo');
}
