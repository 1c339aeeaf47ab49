import { LONGEST_WAIT_MS } from '../../health/wait.ts';
import { pairs } from '../../http/flat-headers.ts';
import { sendJson } from '../../http/send.ts';
import { GatewayError } from '../../lib/error.ts';
import { endOfError, type RequestEnd } from '../request/end.ts';
import type { RequestFacts } from '../request/facts.ts';
import type { Failure, UpstreamRefusal } from '../request/failure.ts';
import { clientHeaders } from '../upstream/headers.ts';
import type { ClientStream } from './client-stream.ts';
import { errorHeaders } from './error.ts';
import { type AnsweredBy, addGatewayHeaders, translatedHeaders } from './headers.ts';
import { errorFrame } from './stream-ending.ts';

/** Whose request failed, and where its answer goes. */
export interface FailedRequest {
  readonly facts: RequestFacts;
  readonly client: ClientStream;
  /** The attempt whose failure is reported. */
  readonly answeredBy: AnsweredBy;
  redact(this: void, text: string): string;
}

/**
 * A failure with no attempt left and no content sent: the error answer, in the client's dialect, or the event that says as
 * much in a stream that a keep-alive has opened.
 * @param otherFailures how other attempts failed, to be added to the message; null where there was only this one
 * @returns how the request ended with that
 */
export function answerFailure(
  failed: FailedRequest,
  { answer, error }: Failure,
  otherFailures: string | null,
): RequestEnd {
  const { answeredBy, client, facts } = failed;
  const explainedError = otherFailures === null ? error : explained(error, otherFailures);
  if (client.state === 'opened') {
    client.reset(errorFrame(failed, explainedError));
    return { ...endOfError(explainedError, true), status: 200 };
  }
  if (answer !== undefined) return answerRefusal(failed, answer, explainedError, otherFailures === null);
  const { codec, exchange } = facts;
  const own: string[] = [];
  addGatewayHeaders(own, facts, answeredBy);
  const headers = { ...Object.fromEntries(pairs(own)), ...errorHeaders(explainedError) };
  sendJson(exchange, explainedError.status, codec.encodeError(explainedError, exchange.id), headers);
  return endOfError(explainedError, false);
}

/** What the upstream answered: as it is where the client's format allows that, else its words and headers. */
function answerRefusal(
  { answeredBy, facts }: FailedRequest,
  answer: UpstreamRefusal,
  error: GatewayError,
  asIs: boolean,
): RequestEnd {
  const { codec, exchange } = facts;
  const own = asIs ? answer.body : null;
  const headers = { ...answer.headers };
  if (error.retryAfter !== null) headers['retry-after'] = String(error.retryAfter);
  else if (!isWait(headers['retry-after'])) delete headers['retry-after'];
  if (!(Number(headers['retry-after-ms']) <= LONGEST_WAIT_MS)) delete headers['retry-after-ms'];
  const bytes = own ?? Buffer.from(JSON.stringify(codec.encodeError(error, exchange.id)));
  // An error that is rendered anew has the status that its words deserve.
  const status = own === null ? error.status : answer.status;
  const flat =
    own === null
      ? translatedHeaders(facts, answeredBy, status, headers)
      : relayedHeaders(facts, answeredBy, status, headers);
  if (own === null) flat.push('content-type', 'application/json');
  flat.push('content-length', String(bytes.length));
  exchange.response.writeHead(status, flat);
  exchange.response.end(bytes);
  return { ...endOfError(error, false), status };
}

function relayedHeaders(
  facts: RequestFacts,
  answeredBy: AnsweredBy,
  status: number,
  upstream: UpstreamRefusal['headers'],
): string[] {
  const headers = clientHeaders(status, upstream);
  addGatewayHeaders(headers, facts, answeredBy, upstream);
  return headers;
}

/** Whether clients understand it: seconds that are not negative. */
function isWait(value: string | undefined): boolean {
  return value !== undefined && /^\d{1,9}$/.test(value);
}

function explained(error: GatewayError, otherFailures: string): GatewayError {
  const { cause, code, param, retryAfter, status } = error;
  return new GatewayError(code, `${error.message} (tried ${otherFailures})`, {
    status,
    cause,
    ...(param === null ? {} : { param }),
    ...(retryAfter === null ? {} : { retryAfter }),
  });
}
