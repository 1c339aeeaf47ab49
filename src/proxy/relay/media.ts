import type { IncomingHttpHeaders } from 'node:http';
import { isObject, parseObject } from '../../codecs/json/values.ts';
import { readVendorError } from '../../codecs/openai-shared/error.ts';
import type { MediaAnswer, MediaCodec } from '../../codecs/passthrough/media.ts';
import type { ResponseSink } from '../../http/response-sink.ts';
import { GatewayError } from '../../lib/error.ts';
import { splitFrames } from '../../lib/sse.ts';
import { addGatewayHeaders } from '../answer/headers.ts';
import { type Answering, type AnswerReader, released } from '../answer/reader.ts';
import { formatUsd } from '../answer/usd.ts';
import { joined } from '../json/joined.ts';
import type { Measured } from '../metering/meter.ts';
import { MediaMeter } from '../metering/meter-media.ts';
import { headerTier } from '../metering/served-tier.ts';
import type { Failure } from '../request/failure.ts';
import { type Used, usedNothing } from '../request/use.ts';
import type { AttemptControl } from '../upstream/attempt.ts';
import { readUpstreamError } from '../upstream/error.ts';
import { clientHeaders } from '../upstream/headers.ts';
import { jsonAnswer, notJson } from './json-answer.ts';
import { Relay } from './relay.ts';

/** JSON up to here is held until it is whole, so that a cut is an error and the cost can stand in a header. */
const HELD_BYTES = 8 * 1024 * 1024;

/**
 * Carries an answer of a media format: JSON, events, or bytes of any kind, which pass at the caller's pace and are never
 * held whole. An answer that is an error goes the way of all others.
 */
export class MediaRelay implements AnswerReader {
  #answering: Answering;
  #attempt: AttemptControl | null = null;
  readonly #media: MediaCodec;
  readonly #response: ResponseSink;
  /** Carries the answer where that is an error. */
  #errors: Relay | null = null;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #kind: MediaAnswer['kind'] = 'other';
  #meter: MediaMeter;
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** True once the caller has been sent something. */
  #passing = false;
  /** What the request alone tells of its use. */
  #asked: Measured | null = null;

  constructor(answering: Answering, media: MediaCodec) {
    this.#answering = answering;
    this.#media = media;
    this.#response = answering.facts.exchange.response;
    this.#meter = new MediaMeter('other', []);
  }

  onHead(status: number, headers: IncomingHttpHeaders, attempt: AttemptControl): void {
    this.#status = status;
    this.#headers = headers;
    this.#attempt = attempt;
    if (status >= 300) {
      this.#errors = new Relay(this.#answering);
      this.#errors.onHead(status, headers, attempt);
      return;
    }
    this.#answering.sink.head(status, headers);
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
    this.#held.push(chunk);
    this.#heldBytes += chunk.length;
    if (this.#kind === 'json' && this.#heldBytes <= HELD_BYTES) return true;
    return this.#pass();
  }

  onEnd(): void {
    if (this.#errors !== null) {
      this.#errors.onEnd();
      return;
    }
    if (!this.#passing) {
      this.#sendHeld();
      return;
    }
    this.#response.end();
    const error = this.#kind === 'events' ? lastError(this.#meter.answer().tail) : null;
    this.#complete(error, this.#used());
  }

  onFailure({ error, safeToRetry }: Failure): void {
    // A form comes only once.
    const once = this.#answering.facts.upload?.begun === true;
    const failure = { error, safeToRetry: safeToRetry && !once };
    if (this.#errors !== null) this.#errors.onFailure(failure);
    else if (this.#passing) this.#breakOff(error);
    else this.#fail(failure);
  }

  onCallerGone(): void {
    const used = this.#passing ? this.#used() : usedNothing;
    this.#answering.sink.settled({ kind: 'client-gone', streamed: this.#kind === 'events', used });
  }

  interrupt(error: GatewayError): void {
    if (this.#passing) this.#breakOff(error);
    else this.#fail({ error, safeToRetry: false });
  }

  /** Between bytes of a kind that is not known nothing can be put. */
  takesKeepAlive(): boolean {
    return false;
  }

  /** Sends what came up to now, and from here on what comes. */
  #pass(): boolean {
    this.#passing = true;
    this.#letGoOfRequest();
    const length = Number(this.#headers['content-length']);
    const known = Number.isInteger(length) && this.#headers['content-encoding'] === undefined;
    // The use of events and long answers is known at their end; that of sound is in the request.
    this.#writeHead(known ? length : null, this.#kind === 'other' ? this.#asked : null);
    this.#response.on('drain', () => this.#attempt?.resume());
    const held = joined(this.#held);
    this.#held = [];
    return this.#response.write(held);
  }

  #sendHeld(): void {
    const body = joined(this.#held);
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
    this.#letGoOfRequest();
    const { counted } = this.#meter.answer();
    const found = this.#media.usageOfAnswer({ kind: this.#kind, head: body, tail: body, counted });
    const measured = found ?? this.#asked ?? unknown;
    this.#writeHead(body.length, measured);
    this.#response.end(body);
    this.#complete(null, this.#inTier(measured));
  }

  /** An error that came with HTTP 200. */
  #failWith(status: number, body: Buffer): void {
    const headers = this.#headers;
    const { facts, redact, request } = this.#answering;
    const { format } = facts.codec;
    const read = readUpstreamError({ format, status, headers, body, target: request.target, redact });
    const answer = { status, headers, said: read.said, body: read.body };
    this.#fail({ error: read.error, safeToRetry: false, answer });
  }

  #letGoOfRequest(): void {
    const { request, sink } = this.#answering;
    const { body } = request;
    this.#asked = body.length === 0 ? null : this.#media.usageOfRequest(joined(body));
    this.#answering = released(this.#answering);
    sink.committed(null, true);
  }

  #used(): Used {
    return this.#inTier(this.#media.usageOfAnswer(this.#meter.answer()) ?? this.#asked ?? unknown);
  }

  #inTier(measured: Measured): Used {
    return { ...measured, tier: headerTier(this.#headers) };
  }

  #fail(failure: Failure): void {
    this.#answering.sink.settled({ kind: 'failed', failure });
  }

  #writeHead(length: number | null, measured: Measured | null): void {
    const headers = clientHeaders(this.#status, this.#headers);
    if (length !== null) headers.push('content-length', String(length));
    if (this.#kind === 'events') headers.push('x-accel-buffering', 'no');
    const { facts, request } = this.#answering;
    addGatewayHeaders(headers, facts, request);
    const usd = measured === null ? null : facts.price(request.target, this.#inTier(measured)).usd;
    if (usd !== null) headers.push('x-gateway-cost-usd', formatUsd(usd));
    this.#response.writeHead(this.#status, headers);
  }

  /** The caller must not take half of an answer for all of it. */
  #breakOff(error: GatewayError): void {
    this.#answering.sink.settled({
      kind: 'interrupted',
      failure: { error, safeToRetry: false },
      status: this.#status,
      streamed: this.#kind === 'events',
      used: this.#used(),
      partial: null,
      ending: null,
    });
  }

  /** @param error what the answer says that it ended with */
  #complete(error: GatewayError | null, used: Used): void {
    this.#answering.sink.settled({
      kind: 'completed',
      status: this.#status,
      streamed: this.#kind === 'events',
      used,
      finishReason: null,
      error,
      response: null,
    });
  }
}

const unknown: Measured = { usage: null, estimated: false };

/** The failure that a stream ended with, in the words of whoever reported it; null when it ended well. */
function lastError(tail: Uint8Array): GatewayError | null {
  const last = splitFrames(tail).frames.findLast(({ data }) => data !== '[DONE]');
  const data = last === undefined ? null : parseObject(last.data);
  if (last === undefined || data === null) return null;
  if (last.event !== 'error' && data['type'] !== 'error' && !isObject(data['error'])) return null;
  const { message, status } = readVendorError(data);
  return new GatewayError('upstream_error', message, { status });
}
