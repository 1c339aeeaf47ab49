import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { RequestBody } from './request-body.ts';
import type { BodyLength } from './request-head.ts';
import type { ResponseHead } from './response-head.ts';
import type { ResponseEvents } from './response-reader.ts';

/** The calls of undici's handlers, and for bodies in pieces also one when they are not read any more. */
export interface ExchangeHandler extends Dispatcher.DispatchHandler {
  /** The system has taken all of the body; the answer may be complete by then. Not called for one that was not sent whole. */
  onRequestSent?(): void;
}

/** A request that is ready to be sent. */
export interface ReadyRequest {
  /** Latin-1, with its blank line. */
  head: string;
  body: RequestBody;
  /** The length of the body that the head names. */
  declared: BodyLength;
}

/** What an exchange asks of the connection that carries it. */
interface Carrier {
  pause(): void;
  resume(): void;
  /** Closes it: nothing else can be read from it. */
  drop(): void;
  /** The exchange is complete, and the connection may carry another. */
  release(exchange: Exchange): void;
}

/** One request and its response, from its start until its handler was called with its end. */
export class Exchange implements Dispatcher.DispatchController, ResponseEvents {
  readonly #handler: ExchangeHandler;
  /** Null once it was sent: a stream may last for an hour, and would keep its request that long. */
  #request: ReadyRequest | null;
  /** Null before there is one, and after its end. */
  connection: Carrier | null = null;
  /** The fields of the final head that concern the connection. */
  persistent = false;
  keepAliveMs: number | null = null;
  aborted = false;
  paused = false;
  reason: Error | null = null;
  /** Whether the handler was called with its end. */
  over = false;
  /** The response is complete, which is passed to the handler when it reads on. */
  #ended: IncomingHttpHeaders | null = null;

  constructor(handler: ExchangeHandler, request: ReadyRequest) {
    this.#handler = handler;
    this.#request = request;
  }

  /** Whether all of the response has come, if its handler was not called with its end yet. */
  get complete(): boolean {
    return this.over || this.#ended !== null;
  }

  /** The request, which is released; null where it is not needed any more. */
  begin(connection: Carrier): ReadyRequest | null {
    const request = this.#request;
    this.#request = null;
    this.connection = connection;
    if (this.over) return null;
    try {
      this.#handler.onRequestStart?.(this, {});
    } catch (error) {
      this.fail(error as Error);
    }
    return this.over ? null : request;
  }

  sent(): void {
    this.#handler.onRequestSent?.();
  }

  abort(reason: Error): void {
    if (this.over) return;
    this.aborted = true;
    this.reason = reason;
    this.fail(reason);
  }

  pause(): void {
    if (this.over || this.paused) return;
    this.paused = true;
    this.connection?.pause();
  }

  resume(): void {
    if (!this.paused) return;
    this.paused = false;
    if (this.#ended !== null) this.#finish(this.#ended);
    else this.connection?.resume();
  }

  onHead(head: ResponseHead): void {
    this.persistent = head.persistent;
    this.keepAliveMs = head.keepAliveMs;
    if (this.over) return;
    try {
      this.#handler.onResponseStart?.(this, head.status, head.headers);
    } catch (error) {
      this.fail(error as Error);
    }
  }

  onBody(bytes: Buffer): void {
    if (this.over) return;
    try {
      this.#handler.onResponseData?.(this, bytes);
    } catch (error) {
      this.fail(error as Error);
    }
  }

  onEnd(trailers: IncomingHttpHeaders): void {
    if (this.paused) this.#ended = trailers;
    else this.#finish(trailers);
  }

  /** It cannot be completed: its connection is given up. */
  fail(error: Error): void {
    if (this.over) return;
    this.over = true;
    this.#request = null;
    const { connection } = this;
    this.connection = null;
    connection?.drop();
    this.#handler.onResponseError?.(this, error);
  }

  #finish(trailers: IncomingHttpHeaders): void {
    if (this.over) return;
    this.over = true;
    const { connection } = this;
    this.connection = null;
    connection?.release(this);
    this.#handler.onResponseEnd?.(this, trailers);
  }
}
