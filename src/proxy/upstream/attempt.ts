import type { IncomingHttpHeaders } from 'node:http';
import type { Transform } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { Config } from '../../config.ts';
import { type BodyMemory, ONE_WRITE_BYTES } from '../../http/body/memory.ts';
import type { ExchangeHandler } from '../../http/client/exchange.ts';
import { GatewayError } from '../../lib/error.ts';
import { joined } from '../json/joined.ts';
import type { Failure } from '../request/failure.ts';
import { createDecoder, type Decoder, type DecoderEvents } from './decode.ts';
import { createUnframer, unframedHeaders } from './event-stream.ts';
import { failureOf } from './failure.ts';

/** The part of undici's Dispatcher that an attempt needs; the built-in demo implements it in-process. */
export interface Upstream {
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean;
}

export interface UpstreamRequest {
  upstream: Upstream;
  origin: string;
  /** For error messages. */
  host: string;
  path: string;
  /** Default POST; another one goes without a body. */
  method?: 'GET' | 'DELETE';
  /** Flat name, value, name, value … */
  headers: string[];
  body: readonly Buffer[];
  /** Instead of `body`: bytes that come as they are asked for. Their length is in the headers, where it is known. */
  stream?: AsyncIterable<Buffer>;
}

/** What a reader may ask of the attempt whose answer it reads. */
export interface AttemptControl {
  /** Goes on after `onData` said that no more is wanted. */
  resume(): void;
  /** Ends the attempt because of what its reader met after it had returned. */
  fail(error: unknown): void;
}

/** The calls of an attempt to its reader. After `onEnd` or `onFailure` nothing more comes. */
export interface AttemptReader {
  onHead(status: number, headers: IncomingHttpHeaders, attempt: AttemptControl): void;
  /** False: no more until `resume()` is called. */
  onData(chunk: Buffer): boolean;
  onEnd(): void;
  onFailure(failure: Failure): void;
}

type Phase = 'connecting' | 'waiting' | 'head' | 'body' | 'done';

/**
 * One request to one upstream: sends it, watches its deadlines, undoes content encodings, and hands the
 * answer to its reader. A class, because at a thousand open streams its methods must not be closures.
 */
export class Attempt implements AttemptControl, ExchangeHandler {
  readonly #host: string;
  readonly #reader: AttemptReader;
  readonly #timeouts: Config['timeouts'];
  /** Until the system has taken the body: never, where the transport does not tell. */
  #memory: BodyMemory | null;
  #phase: Phase = 'connecting';
  #controller: Dispatcher.DispatchController | null = null;
  #decoder: Decoder | null = null;
  /** Why the connection broke while the decoder still held bytes. */
  #broken: Error | null = null;
  #paused = false;
  #closing: NodeJS.Timeout | undefined;
  /** Milliseconds without progress in this phase, and since the start. */
  #idle = 0;
  #total = 0;

  /** @param memory what the body stands in, where it may be freed once it is sent */
  constructor(
    host: string,
    reader: AttemptReader,
    timeouts: Config['timeouts'],
    memory: BodyMemory | null = null,
  ) {
    this.#host = host;
    this.#reader = reader;
    this.#timeouts = timeouts;
    this.#memory = memory;
  }

  start({ body, headers, method, origin, path, stream, upstream }: UpstreamRequest): void {
    const bytes = body.reduce((sum, piece) => sum + piece.length, 0);
    // A larger one is sent in its pieces, without a copy.
    const whole = bytes <= ONE_WRITE_BYTES ? joined(body) : null;
    if (whole === null) headers.push('content-length', String(bytes));
    this.#memory?.retain();
    try {
      upstream.dispatch(
        {
          origin,
          path,
          method: method ?? 'POST',
          headers,
          // undici takes any iterable of buffers as a body; its types name only the commoner kinds.
          body: method === undefined ? ((stream ?? whole ?? each(body)) as Buffer) : null,
          headersTimeout: 0,
          bodyTimeout: 0,
        },
        this,
      );
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  /** Ends the attempt without a word to its reader; the upstream sees its connection closed at once. */
  abort(): void {
    if (this.#phase === 'done') return;
    this.#phase = 'done';
    this.#decoder?.destroy();
    this.#controller?.abort(new GatewayError('client_closed', 'The client went away'));
  }

  /** Its answer is complete: an upstream that does not end it by itself is not waited for long. */
  closeSoon(): void {
    if (this.#phase === 'done') return;
    this.#closing = setTimeout(() => this.abort(), LINGER_MS);
    this.#closing.unref();
  }

  fail(error: unknown): void {
    this.#fail(bug(error));
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#idle = 0;
    if (this.#decoder === null) this.#controller?.resume();
    else this.#decoder.resume();
  }

  /** Called at a steady beat with the milliseconds since the last call; ends the attempt when a deadline passed. */
  tick(elapsed: number): void {
    this.#total += elapsed;
    if (!this.#paused) this.#idle += elapsed;
    const { headersMs, firstByteMs, idleMs, totalMs } = this.#timeouts;
    if (this.#total > totalMs) this.#expire('it was not finished', totalMs);
    else if (this.#phase === 'waiting' && this.#idle > headersMs)
      this.#expire('no response headers came', headersMs);
    else if (this.#phase === 'head' && this.#idle > firstByteMs)
      this.#expire('no first byte came', firstByteMs);
    else if (this.#phase === 'body' && this.#idle > idleMs) this.#expire('the answer stalled', idleMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#phase === 'done') {
      controller.abort(new GatewayError('client_closed', 'The client went away'));
      return;
    }
    this.#controller = controller;
    this.#phase = 'waiting';
    this.#idle = 0;
  }

  onRequestSent(): void {
    this.#memory?.release();
    this.#memory = null;
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200 || this.#phase === 'done') return;
    if (status > MAX_STATUS) {
      this.#fail(
        new GatewayError(
          'upstream_protocol',
          `The upstream ${this.#host} answered with the status ${status}, which is not valid in HTTP`,
        ),
      );
      return;
    }
    this.#phase = 'head';
    this.#idle = 0;
    const encoding = headers['content-encoding'];
    const unframed = unframedHeaders(headers);
    try {
      if (encoding !== undefined || unframed !== null)
        this.#decoder = this.#decode(encoding ?? '', unframed === null ? null : createUnframer());
      this.#reader.onHead(status, unframed ?? headers, this);
    } catch (error) {
      this.#fail(bug(error));
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#phase === 'done') return;
    this.#phase = 'body';
    this.#idle = 0;
    if (this.#decoder !== null) {
      if (!this.#decoder.write(chunk)) controller.pause();
      return;
    }
    try {
      if (this.#reader.onData(chunk)) return;
    } catch (error) {
      this.#fail(bug(error));
      return;
    }
    this.#paused = true;
    controller.pause();
  }

  onResponseEnd(): void {
    if (this.#phase === 'done') return;
    if (this.#decoder !== null) {
      this.#decoder.end();
      return;
    }
    this.#end();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (this.#decoder === null || this.#phase !== 'body') {
      this.#fail(error);
      return;
    }
    // What came before the break is still inside the decoder; the reader gets it first.
    this.#broken = error;
    this.#decoder.end();
  }

  #decode(encoding: string, framing: Transform | null): Decoder | null {
    const events: DecoderEvents = {
      onData: (chunk) => {
        if (this.#phase === 'done') return true;
        this.#idle = 0;
        try {
          const wantsMore = this.#reader.onData(chunk);
          this.#paused = !wantsMore;
          return wantsMore;
        } catch (error) {
          // Nobody above a decompressor's events would catch it.
          this.#fail(bug(error));
          return true;
        }
      },
      onEnd: () => {
        if (this.#broken !== null) this.#fail(this.#broken);
        if (this.#phase !== 'done') this.#end();
      },
      onError: (error) => this.#fail(this.#broken ?? error),
      onDrain: () => this.#controller?.resume(),
    };
    return createDecoder(encoding, events, framing);
  }

  #end(): void {
    this.#phase = 'done';
    clearTimeout(this.#closing);
    try {
      this.#reader.onEnd();
    } catch (error) {
      this.#reader.onFailure({ error: bug(error), safeToRetry: false });
    }
  }

  #expire(what: string, milliseconds: number): void {
    const message = `The upstream ${this.#host} timed out: ${what} within ${milliseconds / 1000} s`;
    this.#fail(new GatewayError('upstream_timeout', message));
  }

  #fail(error: Error): void {
    if (this.#phase === 'done') return;
    const answered = this.#phase === 'body';
    this.#phase = 'done';
    this.#decoder?.destroy();
    this.#controller?.abort(error);
    this.#reader.onFailure(failureOf(error, this.#host, answered));
  }
}

/** A fault of our own while an answer is carried: the client gets an error, not silence. */
function bug(cause: unknown): GatewayError {
  if (cause instanceof GatewayError) return cause;
  // JSON can be read to any depth and written only as deep as the stack goes.
  if (cause instanceof RangeError)
    return new GatewayError('upstream_protocol', 'The upstream’s answer is too large or nested too deeply', {
      cause,
    });
  return new GatewayError('internal_error', `The gateway failed to carry the answer: ${String(cause)}`, {
    cause,
  });
}

/** A status outside 100 to 599 is treated as an error of the server (RFC 9110, 15). */
const MAX_STATUS = 599;

/** After the final event of a stream: its connection may be used again where it ends in time. */
const LINGER_MS = 2_000;

/**
 * The pieces one after the other, each let go of once it is asked for the next: undici keeps its body for as long as the
 * answer takes, and a generator that has ended keeps what it was given.
 */
function each(pieces: readonly Buffer[]): Iterable<Buffer> {
  let left = pieces;
  let index = 0;
  const next = (): IteratorResult<Buffer, undefined> => {
    const value = left[index];
    index += 1;
    if (value !== undefined) return { done: false, value };
    left = [];
    return { done: true, value: undefined };
  };
  return { [Symbol.iterator]: () => ({ next }) };
}
