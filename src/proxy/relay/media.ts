import type { IncomingHttpHeaders } from 'node:http';
import { isObject, parseObject } from '../../codecs/json/values.ts';
import { readVendorError } from '../../codecs/openai-shared/error.ts';
import type { MediaAnswer, MediaCodec } from '../../codecs/passthrough/media.ts';
import type { ResponseSink } from '../../http/response-sink.ts';
import { GatewayError } from '../../lib/error.ts';
import { splitFrames } from '../../lib/streams/sse.ts';
import { addGatewayHeaders } from '../answer/headers.ts';
import { type AnswerReader, type ReaderContext, released } from '../answer/reader.ts';
import { formatUsd } from '../answer/usd.ts';
import { joined } from '../json/joined.ts';
import type { MeasuredUsage } from '../metering/meter.ts';
import { MediaMeter } from '../metering/meter-media.ts';
import { headerTier } from '../metering/served-tier.ts';
import { type AnswerUsage, noAnswerUsage } from '../request/answer-usage.ts';
import type { Failure } from '../request/failure.ts';
import type { AttemptControl } from '../upstream/attempt.ts';
import { readUpstreamError } from '../upstream/error.ts';
import { clientHeaders } from '../upstream/headers.ts';
import { jsonAnswer, notJson } from './json-answer.ts';
import { Relay } from './relay.ts';

/** JSON up to here is held until it is whole, so that a cut is an error and the cost can stand in a header. */
const MAX_BUFFERED_BYTES = 8 * 1024 * 1024;

/**
 * Carries an answer of a media format: JSON, events, or bytes of any kind, which pass at the client's pace and are never
 * held whole. An answer that is an error goes the way of all others.
 */
export class MediaRelay implements AnswerReader {
  #context: ReaderContext;
  #attempt: AttemptControl | null = null;
  readonly #media: MediaCodec;
  readonly #response: ResponseSink;
  /** Carries the answer where that is an error. */
  #errors: Relay | null = null;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #kind: MediaAnswer['kind'] = 'other';
  #meter: MediaMeter;
  #buffer: Buffer[] = [];
  #bufferedBytes = 0;
  /** True once the client has been sent something. */
  #passing = false;
  /** The usage by the request alone. */
  #requestUsage: MeasuredUsage | null = null;

  constructor(context: ReaderContext, media: MediaCodec) {
    this.#context = context;
    this.#media = media;
    this.#response = context.facts.exchange.response;
    this.#meter = new MediaMeter('other', []);
  }

  onHead(status: number, headers: IncomingHttpHeaders, attempt: AttemptControl): void {
    this.#status = status;
    this.#headers = headers;
    this.#attempt = attempt;
    if (status >= 300) {
      this.#errors = new Relay(this.#context);
      this.#errors.onHead(status, headers, attempt);
      return;
    }
    this.#context.sink.head(status, headers);
    const type = headers['content-type']?.toLowerCase() ?? '';
    if (type.startsWith('text/html')) {
      throw new GatewayError(
        'upstream_protocol',
        `The upstream answered ${status} with an HTML page; check the connection's base URL`,
      );
    }
    if (type.includes('json')) this.#kind = 'json';
    else if (type.startsWith('text/event-stream')) this.#kind = 'events';
    this.#meter = new MediaMeter(this.#kind, this.#media.counted);
  }

  onData(chunk: Buffer): boolean {
    if (this.#errors !== null) return this.#errors.onData(chunk);
    this.#meter.push(chunk);
    if (this.#passing) return this.#response.write(chunk);
    this.#buffer.push(chunk);
    this.#bufferedBytes += chunk.length;
    if (this.#kind === 'json' && this.#bufferedBytes <= MAX_BUFFERED_BYTES) return true;
    return this.#pass();
  }

  onEnd(): void {
    if (this.#errors !== null) {
      this.#errors.onEnd();
      return;
    }
    if (!this.#passing) {
      this.#sendBuffered();
      return;
    }
    this.#response.end();
    const error = this.#kind === 'events' ? lastError(this.#meter.answer().tail) : null;
    this.#complete(error, this.#answerUsage());
  }

  onFailure({ error, safeToRetry }: Failure): void {
    // A form comes only once.
    const isUsedUp = this.#context.facts.upload?.isConsumed === true;
    const failure = { error, safeToRetry: safeToRetry && !isUsedUp };
    if (this.#errors !== null) this.#errors.onFailure(failure);
    else if (this.#passing) this.#interrupted(error);
    else this.#fail(failure);
  }

  onClientGone(): void {
    const answerUsage = this.#passing ? this.#answerUsage() : noAnswerUsage;
    this.#context.sink.settled({ kind: 'client-gone', streamed: this.#kind === 'events', answerUsage });
  }

  interrupt(error: GatewayError): void {
    if (this.#passing) this.#interrupted(error);
    else this.#fail({ error, safeToRetry: false });
  }

  /** Between bytes of a kind that is not known nothing can be put. */
  takesKeepAlive(): boolean {
    return false;
  }

  /** Sends what came up to now, and from here on what comes. */
  #pass(): boolean {
    this.#passing = true;
    this.#releaseRequest();
    const length = Number(this.#headers['content-length']);
    const knowsLength = Number.isInteger(length) && this.#headers['content-encoding'] === undefined;
    // The use of events and long answers is known at their end; that of sound is in the request.
    this.#writeHead(knowsLength ? length : null, this.#kind === 'other' ? this.#requestUsage : null);
    this.#response.on('drain', () => this.#attempt?.resume());
    const buffered = joined(this.#buffer);
    this.#buffer = [];
    return this.#response.write(buffered);
  }

  #sendBuffered(): void {
    const body = joined(this.#buffer);
    const answer = this.#kind === 'json' ? jsonAnswer(body) : null;
    if (answer !== null && answer.errorStatus !== null) {
      this.#failWith(answer.errorStatus, body);
      return;
    }
    if (body.length === 0 || (this.#kind === 'json' && answer === null)) {
      const error = notJson(this.#status, this.#headers['content-type'], body);
      this.#fail({ error, safeToRetry: false });
      return;
    }
    this.#releaseRequest();
    const { counted } = this.#meter.answer();
    const reportedUsage = this.#media.usageOfAnswer({ kind: this.#kind, head: body, tail: body, counted });
    const measured = reportedUsage ?? this.#requestUsage ?? unknownUsage;
    this.#writeHead(body.length, measured);
    this.#response.end(body);
    this.#complete(null, this.#inTier(measured));
  }

  /** An error that came with HTTP 200. */
  #failWith(status: number, body: Buffer): void {
    const headers = this.#headers;
    const { facts, redact, request } = this.#context;
    const { format } = facts.codec;
    const read = readUpstreamError({ format, status, headers, body, target: request.target, redact });
    const answer = { status, headers, errorText: read.errorText, body: read.body };
    this.#fail({ error: read.error, safeToRetry: false, answer });
  }

  #releaseRequest(): void {
    const { request, sink } = this.#context;
    const { body } = request;
    this.#requestUsage = body.length === 0 ? null : this.#media.usageOfRequest(joined(body));
    this.#context = released(this.#context);
    sink.committed(null, true);
  }

  #answerUsage(): AnswerUsage {
    return this.#inTier(
      this.#media.usageOfAnswer(this.#meter.answer()) ?? this.#requestUsage ?? unknownUsage,
    );
  }

  #inTier(measured: MeasuredUsage): AnswerUsage {
    return { ...measured, tier: headerTier(this.#headers) };
  }

  #fail(failure: Failure): void {
    this.#context.sink.settled({ kind: 'failed', failure });
  }

  #writeHead(length: number | null, measured: MeasuredUsage | null): void {
    const headers = clientHeaders(this.#status, this.#headers);
    if (length !== null) headers.push('content-length', String(length));
    if (this.#kind === 'events') headers.push('x-accel-buffering', 'no');
    const { facts, request } = this.#context;
    addGatewayHeaders(headers, facts, request);
    const usd = measured === null ? null : facts.price(request.target, this.#inTier(measured)).usd;
    if (usd !== null) headers.push('x-gateway-cost-usd', formatUsd(usd));
    this.#response.writeHead(this.#status, headers);
  }

  /** The client must not take half of an answer for all of it. */
  #interrupted(error: GatewayError): void {
    this.#context.sink.settled({
      kind: 'interrupted',
      failure: { error, safeToRetry: false },
      status: this.#status,
      streamed: this.#kind === 'events',
      answerUsage: this.#answerUsage(),
      partial: null,
      ending: null,
    });
  }

  /** @param error what the answer says that it ended with */
  #complete(error: GatewayError | null, answerUsage: AnswerUsage): void {
    this.#context.sink.settled({
      kind: 'completed',
      status: this.#status,
      streamed: this.#kind === 'events',
      answerUsage,
      finishReason: null,
      error,
      response: null,
    });
  }
}

const unknownUsage: MeasuredUsage = { usage: null, estimated: false };

/** The failure that a stream ended with, as it was reported; null when it ended well. */
function lastError(tail: Uint8Array): GatewayError | null {
  const last = splitFrames(tail).frames.findLast(({ data }) => data !== '[DONE]');
  const data = last === undefined ? null : parseObject(last.data);
  if (last === undefined || data === null) return null;
  if (last.event !== 'error' && data['type'] !== 'error' && !isObject(data['error'])) return null;
  const { message, status } = readVendorError(data);
  return new GatewayError('upstream_error', message, { status });
}
