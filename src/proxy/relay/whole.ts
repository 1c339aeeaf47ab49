import type { IncomingHttpHeaders } from 'node:http';
import type { Codec } from '../../codecs/codec.ts';
import type { ResponseSink } from '../../http/response-sink.ts';
import { resetConnection } from '../../http/server/reset.ts';
import { GatewayError } from '../../lib/error.ts';
import { plainDecimal } from '../../lib/trailing.ts';
import { type AnswerModel, modelInWhole, namedAnswer } from '../answer/model.ts';
import { firstCharacter } from '../answer/shape.ts';
import { addGatewayHeaders, type Call, type CallEnd, callerGone, endOfError } from '../dispatch/call.ts';
import { askedForStream } from '../inbound/wants-stream.ts';
import { joined, type Measured, measureBody } from '../metering/meter.ts';
import { readUpstreamError } from '../upstream/error.ts';
import type { Failure } from '../upstream/failure.ts';
import { callerHeaders } from '../upstream/headers.ts';
import { type JsonAnswer, jsonAnswer, notJson } from './json-answer.ts';

/** Larger answers are passed on while they come, without a cost header. */
const WHOLE_BYTES = 8 * 1024 * 1024;

export interface WholeInput {
  status: number;
  headers: IncomingHttpHeaders;
  /** `assembled`: the upstream streamed although it was not asked to. */
  shape: 'as-is' | 'assembled';
}

/**
 * Relays an answer that is one body. It is collected first, so that a body cut half-way is an error and not
 * half an answer, and so that its cost can stand in a header.
 */
export class WholeRelay {
  readonly #call: Call;
  readonly #input: WholeInput;
  readonly #response: ResponseSink;
  readonly #model: AnswerModel | null;
  #pieces: Buffer[] = [];
  #bytes = 0;
  /** True once the answer has outgrown its bound and passes straight through. */
  #passing = false;

  constructor(call: Call, input: WholeInput) {
    this.#call = call;
    this.#input = input;
    this.#response = call.exchange.response;
    this.#model = input.status < 300 ? modelInWhole(call.codec, call.requestedModel) : null;
  }

  onData(chunk: Buffer): boolean {
    this.#bytes += chunk.length;
    if (this.#passing) return this.#response.write(this.#named(chunk));
    this.#pieces.push(chunk);
    if (this.#bytes <= WHOLE_BYTES) return true;
    return this.#outgrown();
  }

  onEnd(): void {
    if (this.#passing) {
      this.#response.end();
      this.#call.end({ ...this.#okEnd(), usage: null, estimated: false });
      return;
    }
    const body = joined(this.#pieces);
    const failed = this.#input.status >= 400 ? this.#input.status : statusInside(this.#call.codec, body);
    if (failed !== null) this.#sendError(failed, body);
    else if (this.#input.shape === 'assembled') this.#sendAssembled(body);
    else this.#sendAnswer(body);
  }

  onFailure(failure: Failure): void {
    if (!this.#passing) {
      const body = joined(this.#pieces);
      const streamed = this.#input.shape === 'assembled' ? this.#call.codec.stream : null;
      // A stream whose last event came has said all, an error of its own included.
      if (streamed !== null && streamed.readStream(body, body).end !== 'cut') this.#sendAssembled(body);
      else this.#call.failed(failure);
      return;
    }
    resetConnection(this.#response);
    this.#call.end(endOfError(failure.error, false));
  }

  onCallerGone(): void {
    this.#call.end(callerGone(false));
  }

  #sendAnswer(body: Buffer): void {
    const { stream } = this.#call.codec;
    const answer = jsonAnswer(body);
    if (answer !== null && answer.errorStatus !== null) {
      this.#sendError(answer.errorStatus, body);
      return;
    }
    const framed = stream !== null && (this.#opened || askedForStream(this.#call));
    const whole = framed ? answer?.read() : answer;
    // A list of results is an answer where no stream can be asked for (TEI's rerank).
    if (answer === null || !whole || (answer.list && stream !== null)) {
      // Lines of JSON begin as one object does.
      if (answer === null && stream?.framing === 'lines' && stream.readStream(body, body).end !== 'cut')
        this.#sendAssembled(body);
      else this.#call.failed({ error: this.#notJson(body), safeToRetry: false });
      return;
    }
    const measured = this.#measured(body);
    this.#call.begun(body);
    this.#call.answered(() => fieldsOf(answer));
    if (!framed) {
      this.#send(this.#model?.whole(body) ?? body, 'application/json', measured);
      return;
    }
    const frames = Buffer.from(stream.encodeFramesOf(this.#namedIn(fieldsOf(answer) ?? {})));
    if (this.#opened) this.#sendFrames(frames, measured);
    else this.#send(frames, stream.contentType, measured);
  }

  #notJson(body: Buffer): GatewayError {
    return notJson(this.#input.status, this.#input.headers['content-type'], body);
  }

  #sendAssembled(body: Buffer): void {
    const stream = this.#call.codec.stream;
    const frames = stream?.split(Buffer.concat([body, Buffer.from('\n\n')])).frames ?? [];
    const facts = stream?.readStream(body, body);
    if (facts?.end === 'error' && facts.error !== null) {
      const { message, status } = facts.error;
      this.#call.failed({
        error: new GatewayError('upstream_error', message, { status }),
        safeToRetry: false,
      });
      return;
    }
    const answer = facts?.end === 'complete' ? (stream?.assemble(frames) ?? null) : null;
    if (answer === null) {
      const message =
        'The upstream streamed an answer that was not asked for as a stream, and it was not complete';
      this.#call.failed({ error: new GatewayError('upstream_protocol', message), safeToRetry: false });
      return;
    }
    this.#call.answered(() => answer);
    const json = Buffer.from(JSON.stringify(this.#namedIn(answer)));
    this.#send(json, 'application/json', this.#measured(json));
  }

  #sendError(status: number, body: Buffer): void {
    const { headers } = this.#input;
    const read = readUpstreamError({
      format: this.#call.codec.format,
      status,
      headers,
      body,
      target: this.#call.target,
      redact: this.#call.redact,
    });
    if (this.#call.triedAgain(read.error)) return;
    const answer = { status, headers, said: read.said, body: read.body };
    this.#call.failed({ error: read.error, safeToRetry: false, answer });
  }

  #measured(body: Buffer): Measured {
    const { codec } = this.#call;
    this.#call.servedTier = codec.readTier?.(body, body, 'body') ?? this.#call.servedTier;
    return measureBody(codec, body, this.#call.body);
  }

  #send(bytes: Buffer, contentType: string, measured: Pick<CallEnd, 'usage' | 'estimated'>): void {
    const { usd } = this.#call.price(measured.usage);
    this.#writeHead(
      this.#input.status,
      bytes.length,
      contentType,
      usd === null ? [] : ['x-gateway-cost-usd', formatUsd(usd)],
    );
    endWith(this.#response, bytes);
    this.#call.end({ ...this.#okEnd(), ...measured });
  }

  /** The next bytes of the answer, which name the model as the caller did. */
  #named(bytes: Buffer): Buffer {
    return this.#model === null ? bytes : this.#model.push(bytes);
  }

  #namedIn(answer: Record<string, unknown>): Record<string, unknown> {
    return namedAnswer(this.#call.codec, answer, this.#call.requestedModel);
  }

  #okEnd(): Omit<CallEnd, 'usage' | 'estimated'> {
    return { status: this.#input.status, outcome: 'ok', error: null, streamed: false };
  }

  #outgrown(): boolean {
    if (this.#input.status >= 400 || this.#input.shape === 'assembled' || this.#opened) {
      const message = `The upstream's answer is larger than ${WHOLE_BYTES / 1_048_576} MiB and cannot be rewritten`;
      this.#call.failed({ error: new GatewayError('upstream_protocol', message), safeToRetry: false });
      return true;
    }
    const held = joined(this.#pieces);
    if (!/[{[]/.test(firstCharacter(held))) {
      this.#call.failed({ error: this.#notJson(held), safeToRetry: false });
      return true;
    }
    this.#passing = true;
    const length = Number(this.#input.headers['content-length']);
    this.#pieces = [];
    const named = this.#named(held);
    // A name that is still to come changes the length.
    const sure = this.#model?.done !== false && this.#input.headers['content-encoding'] === undefined;
    const known = sure && Number.isInteger(length) ? length + named.length - held.length : null;
    this.#writeHead(this.#input.status, known, null, []);
    this.#response.on('drain', () => this.#call.attempt?.resume());
    return this.#response.write(named);
  }

  /** `contentType` null keeps the upstream's. */
  #writeHead(status: number, length: number | null, contentType: string | null, extra: string[]): void {
    const headers = callerHeaders(status, this.#input.headers);
    const at = headers.indexOf('content-type');
    const upstreamType = at === -1 ? undefined : headers[at + 1];
    if (
      contentType !== null &&
      (upstreamType === undefined || !upstreamType.startsWith(contentType.split(';')[0] ?? ''))
    ) {
      if (at === -1) headers.push('content-type', contentType);
      else headers[at + 1] = contentType;
    }
    if (length !== null) headers.push('content-length', String(length));
    addGatewayHeaders(headers, this.#call, this.#input.headers);
    headers.push(...extra);
    this.#call.delivers();
    this.#response.writeHead(status, headers);
  }

  /** Whether a stream was begun to keep the caller waiting. */
  get #opened(): boolean {
    return this.#call.caller.state === 'opened';
  }

  /** Into a stream that keep-alives have opened. */
  #sendFrames(frames: Buffer, measured: Pick<CallEnd, 'usage' | 'estimated'>): void {
    const { caller } = this.#call;
    this.#call.delivers();
    caller.commit(() => [], frames);
    caller.end();
    this.#call.end({ ...this.#okEnd(), streamed: true, ...measured });
  }
}

/** An answer up to this size leaves in one piece with its headers. */
const ONE_PIECE_BYTES = 16_384;

/** Ends a response. Node joins a string with the headers, but sends a buffer as a piece of its own, at twice the price. */
function endWith(response: ResponseSink, bytes: Buffer): void {
  if (bytes.length > ONE_PIECE_BYTES) response.end(bytes);
  else response.end(bytes.toString('latin1'), 'latin1');
}

/** An error as the first member of a body; a whole answer has its id there. */
const LEADING_ERROR = /^\s*\{\s*"(?:error"\s*:\s*[{"]|(?:type|object)"\s*:\s*"error")/;

/** The HTTP status that an error body sent with HTTP 200 deserves; null for any other body. */
function statusInside({ stream }: Codec, body: Buffer): number | null {
  if (stream === null || !LEADING_ERROR.test(body.toString('latin1', 0, 64))) return null;
  return stream.readError({ event: 'error', data: body.toString('utf8') }).status;
}

function fieldsOf(answer: JsonAnswer): Record<string, unknown> | null {
  const value = answer.read();
  return value && { ...value };
}

/** Plain decimal USD, never in exponent form. */
export function formatUsd(usd: number): string {
  return plainDecimal(usd, 10);
}
