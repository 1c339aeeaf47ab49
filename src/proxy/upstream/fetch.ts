import type { IncomingHttpHeaders } from 'node:http';
import type { Config } from '../../config.ts';
import { GatewayError } from '../../lib/error.ts';
import type { OpenCall } from '../request/open-call.ts';
import type { Watch } from '../request/watch.ts';
import { Attempt, type UpstreamRequest } from './attempt.ts';

/** A whole answer of an upstream to a question of the gateway's own. */
export interface UpstreamAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** Whose deadlines are kept, and by whom. */
export interface FetchContext {
  readonly config: Pick<Config, 'timeouts'>;
  readonly watch: Watch<OpenCall>;
}

/** Answers to questions are short. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/**
 * Sends a request whose answer the gateway reads itself, with the deadlines of every attempt.
 * @param onAbort is given what ends the request early
 * @throws GatewayError when no answer came
 */
export function fetchUpstream(
  { config, watch }: FetchContext,
  request: UpstreamRequest,
  onAbort: (abort: () => void) => void = () => {},
): Promise<UpstreamAnswer> {
  const { promise, reject, resolve } = Promise.withResolvers<UpstreamAnswer>();
  const pieces: Buffer[] = [];
  let bytes = 0;
  let status = 0;
  let headers: IncomingHttpHeaders = {};
  const attempt = new Attempt(
    request.host,
    {
      onHead(receivedStatus, receivedHeaders) {
        status = receivedStatus;
        headers = receivedHeaders;
      },
      onData(chunk) {
        bytes += chunk.length;
        if (bytes <= MAX_ANSWER_BYTES) pieces.push(chunk);
        else fail(new GatewayError('upstream_protocol', "The upstream's answer is too large"));
        return true;
      },
      onEnd: () => resolve({ status, headers, body: Buffer.concat(pieces) }),
      onFailure: ({ error }) => reject(error),
    },
    config.timeouts,
  );
  const fail = (error: GatewayError) => {
    attempt.abort();
    reject(error);
  };
  const open: OpenCall = { slot: -1, tick: (elapsed) => attempt.tick(elapsed), interrupt: fail };
  onAbort(() => fail(new GatewayError('client_closed', 'The client went away')));
  watch.add(open);
  attempt.start(request);
  return promise.finally(() => watch.remove(open));
}
