import { LONGEST_WAIT_MS } from '../../health/wait.ts';
import { sendJson } from '../../http/send.ts';
import { GatewayError } from '../../lib/error.ts';
import { addGatewayHeaders, type Call, endOfError } from '../dispatch/call.ts';
import { translatedHeaders } from '../translate/head.ts';
import type { Failure, UpstreamRefusal } from '../upstream/failure.ts';
import { callerHeaders, pairs } from '../upstream/headers.ts';
import { errorHeaders } from './error.ts';
import { errorFrame } from './stream-ending.ts';

/**
 * A failure with no attempt left and no content sent: the error answer, in the caller's dialect, or the event that says as
 * much in a stream that a keep-alive has opened.
 * @param tried how other attempts ended, to be told besides; null where there was only this one
 */
export function answerFailure(call: Call, { answer, error }: Failure, tried: string | null): void {
  const told = tried === null ? error : explained(error, tried);
  if (call.caller.state === 'opened') {
    call.caller.breakOff(errorFrame(call, told));
    call.end({ ...endOfError(told, true), status: 200 });
    return;
  }
  if (answer !== undefined) {
    answerRefusal(call, answer, told, tried === null);
    return;
  }
  const { exchange } = call;
  const own: string[] = [];
  addGatewayHeaders(own, call);
  const headers = { ...Object.fromEntries(pairs(own)), ...errorHeaders(told) };
  sendJson(exchange, told.status, call.codec.encodeError(told, exchange.id), headers);
  call.end(endOfError(told, false));
}

/** What the upstream answered: as it is where the caller's format allows that, else its words and headers. */
function answerRefusal(call: Call, answer: UpstreamRefusal, error: GatewayError, asIs: boolean): void {
  const { codec, exchange } = call;
  const own = asIs ? answer.body : null;
  const headers = { ...answer.headers };
  if (error.retryAfter !== null) headers['retry-after'] = String(error.retryAfter);
  else if (!isWait(headers['retry-after'])) delete headers['retry-after'];
  if (!(Number(headers['retry-after-ms']) <= LONGEST_WAIT_MS)) delete headers['retry-after-ms'];
  const bytes = own ?? Buffer.from(JSON.stringify(codec.encodeError(error, exchange.id)));
  // An error that is rendered anew has the status that its words deserve.
  const status = own === null ? error.status : answer.status;
  const flat =
    own === null ? translatedHeaders(call, status, headers) : relayedHeaders(call, status, headers);
  if (own === null) flat.push('content-type', 'application/json');
  flat.push('content-length', String(bytes.length));
  exchange.response.writeHead(status, flat);
  exchange.response.end(bytes);
  call.end({ ...endOfError(error, false), status });
}

function relayedHeaders(call: Call, status: number, upstream: UpstreamRefusal['headers']): string[] {
  const headers = callerHeaders(status, upstream);
  addGatewayHeaders(headers, call, upstream);
  return headers;
}

/** Whether clients understand it: seconds that are not negative. */
function isWait(value: string | undefined): boolean {
  return value !== undefined && /^\d{1,9}$/.test(value);
}

function explained(error: GatewayError, tried: string): GatewayError {
  const { cause, code, param, retryAfter, status } = error;
  return new GatewayError(code, `${error.message} (tried ${tried})`, {
    status,
    cause,
    ...(param === null ? {} : { param }),
    ...(retryAfter === null ? {} : { retryAfter }),
  });
}
