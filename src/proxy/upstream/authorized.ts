import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { AccessTokens } from '../../connections/credentials/access-tokens.ts';
import { bearer, signatureHeaders } from '../../connections/credentials/authorise.ts';
import type { OpenConnection } from '../../connections/schema.ts';
import { GatewayError } from '../../lib/error.ts';
import type { Provider } from '../../providers/provider.ts';
import type { Upstream } from './attempt.ts';

export interface AuthorizedInput {
  connection: OpenConnection;
  provider: Provider;
  tokens: Pick<AccessTokens, 'current' | 'fresh' | 'issued'>;
  /** Milliseconds since the epoch. */
  now(): number;
}

/**
 * The upstream for a connection whose credential is more than a key: requests are signed, or get an access token, which
 * is waited for where there is none. One that is refused (401) is renewed once, and the request sent again.
 */
export function authorized(upstream: Upstream, input: AuthorizedInput): Upstream {
  return {
    dispatch(options, handler) {
      const body = repeatable(options.body);
      const send = (headers: Record<string, string>, to: Dispatcher.DispatchHandler) =>
        upstream.dispatch({ ...options, headers: withHeaders(options, headers), body: body.again() }, to);
      const signedHeaders = signature(input, options, body);
      if (signedHeaders !== null) return send(signedHeaders, handler);
      const { connection, tokens } = input;
      const sendWithToken = (token: string) => {
        const renewing = body.pieces === null ? handler : new Renewing(handler, token, input, send);
        return send(bearer(token), renewing);
      };
      const currentToken = tokens.current(connection);
      if (currentToken !== null) return sendWithToken(currentToken);
      tokens.fresh(connection).then(sendWithToken).catch(failing(handler));
      return true;
    },
  };
}

/** A body that can be sent more than once, unless it comes as it is asked for. */
interface Body {
  /** Null where it cannot. */
  pieces: readonly Buffer[] | null;
  again(): Dispatcher.DispatchOptions['body'];
}

function repeatable(body: Dispatcher.DispatchOptions['body']): Body {
  if (body === null || body === undefined) return { pieces: [], again: () => null };
  if (Buffer.isBuffer(body)) return { pieces: [body], again: () => body };
  if (typeof body === 'object' && Symbol.iterator in body) {
    // Attempts hand over an iterable of buffers, which undici's types do not name.
    const pieces = [...(body as Iterable<Buffer>)];
    return { pieces, again: () => pieces.values() as Iterable<Buffer> as Buffer };
  }
  return { pieces: null, again: () => body };
}

function withHeaders({ headers }: Dispatcher.DispatchOptions, added: Record<string, string>): string[] {
  return [...(headers as string[]), ...Object.entries(added).flat()];
}

function signature(
  { connection, now, provider }: AuthorizedInput,
  { method, origin, path, headers }: Dispatcher.DispatchOptions,
  { pieces }: Body,
): Record<string, string> | null {
  if (connection.account?.kind !== 'aws-keys') return null;
  if (pieces === null)
    throw new GatewayError(
      'invalid_request',
      'A request whose body is not known in advance cannot be signed',
    );
  const flat = headers as string[];
  const type = flat.find((_, index) => index % 2 === 1 && flat[index - 1] === 'content-type');
  const signedHeaders: Record<string, string> = type === undefined ? {} : { 'content-type': type };
  const request = { method, origin: String(origin), path, body: pieces, headers: signedHeaders };
  return signatureHeaders(connection, provider, request, now());
}

/** Nothing was sent: there is nothing to abort. */
const nobody: Dispatcher.DispatchController = {
  aborted: false,
  paused: false,
  reason: null,
  abort() {},
  pause() {},
  resume() {},
};

function failing(handler: Dispatcher.DispatchHandler): (error: Error) => void {
  return (error) => handler.onResponseError?.(nobody, error);
}

/** An answer that says 401 is short; of a longer one the beginning is kept. */
const MAX_REFUSAL_BYTES = 65_536;

/** Passes an answer on, except the first that refuses the token: that is kept back until it is known whether another one helps. */
class Renewing implements Dispatcher.DispatchHandler {
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #token: string;
  readonly #input: AuthorizedInput;
  readonly #send: (headers: Record<string, string>, to: Dispatcher.DispatchHandler) => boolean;
  #refusal: { headers: IncomingHttpHeaders; pieces: Buffer[]; bytes: number } | null = null;

  constructor(
    handler: Dispatcher.DispatchHandler,
    token: string,
    input: AuthorizedInput,
    send: (headers: Record<string, string>, to: Dispatcher.DispatchHandler) => boolean,
  ) {
    this.#handler = handler;
    this.#token = token;
    this.#input = input;
    this.#send = send;
  }

  onRequestStart(controller: Dispatcher.DispatchController, context: object): void {
    this.#handler.onRequestStart?.(controller, context);
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
    text?: string,
  ): void {
    if (status === 401) this.#refusal = { headers, pieces: [], bytes: 0 };
    else this.#handler.onResponseStart?.(controller, status, headers, text);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const refusal = this.#refusal;
    if (refusal === null) {
      this.#handler.onResponseData?.(controller, chunk);
      return;
    }
    refusal.bytes += chunk.length;
    if (refusal.bytes <= MAX_REFUSAL_BYTES) refusal.pieces.push(Buffer.from(chunk));
  }

  onResponseEnd(controller: Dispatcher.DispatchController, trailers: IncomingHttpHeaders): void {
    if (this.#refusal === null) this.#handler.onResponseEnd?.(controller, trailers);
    else this.#renew(controller);
  }

  onResponseError(controller: Dispatcher.DispatchController, error: Error): void {
    this.#handler.onResponseError?.(controller, error);
  }

  #renew(controller: Dispatcher.DispatchController): void {
    const { connection, tokens } = this.#input;
    tokens
      .fresh(connection, this.#token)
      .then((token) => {
        if (token === this.#token) this.#passRefusal(controller);
        else this.#send(bearer(token), this.#handler);
      })
      .catch(failing(this.#handler));
  }

  #passRefusal(controller: Dispatcher.DispatchController): void {
    const { headers, pieces } = this.#refusal ?? { headers: {}, pieces: [] };
    this.#handler.onResponseStart?.(controller, 401, headers);
    for (const piece of pieces) this.#handler.onResponseData?.(controller, piece);
    this.#handler.onResponseEnd?.(controller, {});
  }
}
