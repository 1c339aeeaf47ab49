import type { GatewayError } from '../../../lib/error.ts';
import type { ReportedError } from '../../codec.ts';
import { errorInAnswer } from '../../failures/error-in-answer.ts';
import { isObject, objectOf, textOf } from '../../json/values.ts';
import { readVendorError } from '../../openai-shared/error.ts';
import { encodeFrame } from '../../stream/frames.ts';
import type { ResponsesAnswer, ResponsesEvent } from '../wire.ts';
import { emptyResponse } from './shell.ts';

/** Greater than the number of any event before it, and still a 32-bit integer. */
const LAST_SEQUENCE_NUMBER = 2_147_483_647;

/**
 * `response.failed` with a response object that is valid by itself. The code is one that clients try again
 * after: `server_is_overloaded` and others would be final for Codex.
 */
export function encodeErrorFrame(error: GatewayError, requestId: string): string {
  const code = error.kind === 'rate_limit' ? 'rate_limit_exceeded' : 'server_error';
  const response = { ...emptyResponse, id: `resp_${requestId}`, error: { code, message: error.message } };
  const event = { type: 'response.failed', sequence_number: LAST_SEQUENCE_NUMBER, response };
  return encodeFrame(event.type, event);
}

/** The failure in `response.failed` (in its response) or in an `error` event (in the event itself, or nested). */
export function readEventError(event: ResponsesEvent | null, data: string): ReportedError {
  if (event === null) return readVendorError(data);
  const response = objectOf<ResponsesAnswer>(event.response);
  if (event.type !== 'response.failed') return readVendorError(event.error ?? response.error ?? event);
  return readVendorError(response.error ?? 'The upstream reported a failed response without a reason');
}

/** The type of an event. One that names none and holds an error is from a server before the model's, and ends the stream. */
export function typeOfEvent(event: ResponsesEvent | null, name: string): string {
  const type = textOf(event?.type) || name;
  if (type !== '' || event === null) return type;
  return isObject(event.error) || errorInAnswer(event) !== null ? 'error' : '';
}
