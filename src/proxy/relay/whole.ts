import type { IncomingHttpHeaders } from 'node:http';
import type { Codec } from '../../codecs/wire-codec.ts';
import type { ResponseSink } from '../../http/response-sink.ts';
import { ONE_PIECE_BYTES } from '../../http/server/response.ts';
import { GatewayError } from '../../lib/error.ts';
import { addGatewayHeaders } from '../answer/headers.ts';
import { type AnswerModel, modelInWhole, namedAnswer } from '../answer/model.ts';
import { type ReaderContext, released } from '../answer/reader.ts';
import { firstCharacter } from '../answer/shape.ts';
import { formatUsd } from '../answer/usd.ts';
import { streamFlagNearEnds } from '../inbound/wants-stream.ts';
import { joined } from '../json/joined.ts';
import { JsonOutline } from '../json/outline.ts';
import { estimateInput, measureBody, measureOutline, measureStream, Tap } from '../metering/meter.ts';
import { headerTier } from '../metering/served-tier.ts';
import { type AnswerUsage, noAnswerUsage } from '../request/answer-usage.ts';
import type { Failure } from '../request/failure.ts';
import type { CompletedAnswer, ResponseToStore } from '../request/outcome.ts';
import type { AttemptControl } from '../upstream/attempt.ts';
import { readUpstreamError } from '../upstream/error.ts';
import { clientHeaders } from '../upstream/headers.ts';
import { type JsonAnswer, jsonAnswer, notJson } from './json-answer.ts';

/** Larger answers are passed on while they come, without a cost header. */
const WHOLE_BYTES = 8 * 1024 * 1024;

export interface WholeInput {
  status: number;
  headers: IncomingHttpHeaders;
  /** `assembled`: the upstream streamed although it was not asked to. */
  shape: 'as-is' | 'assembled';
  /** Null for one that never had a head. */
  attempt: AttemptControl | null;
}

/**
 * Relays an answer that is one body. It is collected first, so that a body cut half-way is an error and not
 * half an answer, and so that its cost can stand in a header.
 */
export class WholeRelay {
  #context: ReaderContext;
  readonly #input: WholeInput;
  readonly #response: ResponseSink;
  readonly #model: AnswerModel | null;
  #pieces: Buffer[] = [];
  #bytes = 0;
  /** Of an answer that has outgrown its bound and passes straight through: what is kept of it. */
  #passing: PassingAnswer | null = null;

  constructor(context: ReaderContext, input: WholeInput) {
    const { codec, exchange, requestedModel } = context.facts;
    this.#context = context;
    this.#input = input;
    this.#response = exchange.response;
    this.#model = input.status < 300 ? modelInWhole(codec, requestedModel) : null;
  }

  onData(chunk: Buffer): boolean {
    this.#bytes += chunk.length;
    if (this.#passing !== null) {
      this.#passing.outline.push(chunk);
      return this.#response.write(this.#named(chunk));
    }
    this.#pieces.push(chunk);
    if (this.#bytes <= WHOLE_BYTES) return true;
    return this.#passThrough();
  }

  onEnd(): void {
    if (this.#passing !== null) {
      this.#response.end();
      const tail = this.#passing.outline.whole();
      const finishReason = this.#context.facts.codec.readFinishReason?.(tail, 'body') ?? null;
      this.#complete({ answerUsage: this.answerUsage(), finishReason }, false, null);
      return;
    }
    const body = joined(this.#pieces);
    const failed =
      this.#input.status >= 400 ? this.#input.status : statusInside(this.#context.facts.codec, body);
    if (failed !== null) this.#sendError(failed, body);
    else if (this.#input.shape === 'assembled') this.#sendAssembled(body);
    else this.#sendAnswer(body);
  }

  onFailure(failure: Failure): void {
    if (this.#passing === null) {
      const body = joined(this.#pieces);
      const streamed = this.#input.shape === 'assembled' ? this.#context.facts.codec.stream : null;
      // A stream whose last event came has said all, an error of its own included.
      if (streamed !== null && streamed.readStream(body, body).end !== 'cut') this.#sendAssembled(body);
      else this.#fail(failure);
      return;
    }
    this.#context.sink.settled({
      kind: 'interrupted',
      failure,
      status: failure.error.status,
      streamed: false,
      answerUsage: this.answerUsage(),
      partial: null,
      ending: null,
    });
  }

  /** The use of what came up to now. */
  answerUsage(): AnswerUsage {
    if (this.#input.status >= 300 || this.#bytes === 0) return noAnswerUsage;
    const { facts, request } = this.#context;
    const { codec } = facts;
    if (this.#passing !== null) return this.#outlineUsage(this.#passing);
    const inputTokens = estimateInput(request.body);
    if (this.#input.shape === 'assembled' && codec.stream !== null) {
      const tap = new Tap(codec.stream.framing);
      for (const piece of this.#pieces) tap.push(piece);
      const [head, tail] = [tap.head(), tap.tail()];
      const tier = codec.readTier?.(head, tail, 'stream') ?? headerTier(this.#input.headers);
      const streamed = codec.stream.readStream(head, tail);
      return { ...measureStream(codec, tap, streamed, inputTokens), tier };
    }
    const outline = new JsonOutline();
    for (const piece of this.#pieces) outline.push(piece);
    return this.#outlineUsage({ outline, inputTokens });
  }

  #outlineUsage({ inputTokens, outline }: PassingAnswer): AnswerUsage {
    const { codec } = this.#context.facts;
    const whole = outline.whole();
    const tier = codec.readTier?.(whole, whole, 'body') ?? headerTier(this.#input.headers);
    return { ...measureOutline(codec, outline, inputTokens), tier };
  }

  #sendAnswer(body: Buffer): void {
    const { facts, request } = this.#context;
    const { stream } = facts.codec;
    const answer = jsonAnswer(body);
    if (answer !== null && answer.errorStatus !== null) {
      this.#sendError(answer.errorStatus, body);
      return;
    }
    const framed =
      stream !== null &&
      (this.#opened ||
        streamFlagNearEnds({ body: request.clientBody, codec: facts.codec, named: facts.named }));
    const whole = framed ? answer?.read() : answer;
    // A list of results is an answer where no stream can be asked for (TEI's rerank).
    if (answer === null || !whole || (answer.list && stream !== null)) {
      // Lines of JSON begin as one object does.
      if (answer === null && stream?.framing === 'lines' && stream.readStream(body, body).end !== 'cut')
        this.#sendAssembled(body);
      else this.#fail({ error: this.#notJson(body), safeToRetry: false });
      return;
    }
    const measured = this.#measured(body);
    const keepsAnswer = this.#context.sink.committed(body, true);
    const response = keepsAnswer ? { request, read: () => fieldsOf(answer) } : null;
    if (!framed) {
      this.#send(this.#model?.whole(body) ?? body, 'application/json', measured, response);
      return;
    }
    const frames = Buffer.from(stream.encodeFramesOf(this.#namedIn(fieldsOf(answer) ?? {})));
    if (this.#opened) this.#sendFrames(frames, measured, response);
    else this.#send(frames, stream.contentType, measured, response);
  }

  #notJson(body: Buffer): GatewayError {
    return notJson(this.#input.status, this.#input.headers['content-type'], body);
  }

  #sendAssembled(body: Buffer): void {
    const { request } = this.#context;
    const { stream } = this.#context.facts.codec;
    const frames = stream?.split(Buffer.concat([body, Buffer.from('\n\n')])).frames ?? [];
    const facts = stream?.readStream(body, body);
    if (facts?.end === 'error' && facts.error !== null) {
      const { message, status } = facts.error;
      this.#fail({ error: new GatewayError('upstream_error', message, { status }), safeToRetry: false });
      return;
    }
    const answer = facts?.end === 'complete' ? (stream?.assemble(frames) ?? null) : null;
    if (answer === null) {
      const message =
        'The upstream streamed an answer that was not asked for as a stream, and it was not complete';
      this.#fail({ error: new GatewayError('upstream_protocol', message), safeToRetry: false });
      return;
    }
    const json = Buffer.from(JSON.stringify(this.#namedIn(answer)));
    const measured = this.#measured(json);
    const keepsAnswer = this.#context.sink.committed(null, true);
    this.#send(json, 'application/json', measured, keepsAnswer ? { request, read: () => answer } : null);
  }

  #sendError(status: number, body: Buffer): void {
    const { headers } = this.#input;
    const { facts, redact, request } = this.#context;
    const { format } = facts.codec;
    const read = readUpstreamError({ format, status, headers, body, target: request.target, redact });
    const answer = { status, headers, errorText: read.errorText, body: read.body };
    this.#fail({ error: read.error, safeToRetry: false, answer });
  }

  #fail(failure: Failure): void {
    this.#context.sink.settled({ kind: 'failed', failure });
  }

  #measured(body: Buffer): MeasuredAnswer {
    const { facts, request } = this.#context;
    const reportedTier = facts.codec.readTier?.(body, body, 'body') ?? null;
    const tier = reportedTier ?? headerTier(this.#input.headers);
    const { estimated, usage } = measureBody(facts.codec, body, request.body);
    const finishReason = facts.codec.readFinishReason?.(body, 'body') ?? null;
    return { answerUsage: { usage, estimated, tier }, finishReason };
  }

  #send(
    bytes: Buffer,
    contentType: string,
    measured: MeasuredAnswer,
    response: ResponseToStore | null,
  ): void {
    const { facts, request } = this.#context;
    const { usd } = facts.price(request.target, measured.answerUsage);
    this.#writeHead(
      this.#input.status,
      bytes.length,
      contentType,
      usd === null ? [] : ['x-gateway-cost-usd', formatUsd(usd)],
    );
    endWith(this.#response, bytes);
    this.#complete(measured, false, response);
  }

  /** The next bytes of the answer, which name the model as the client did. */
  #named(bytes: Buffer): Buffer {
    return this.#model === null ? bytes : this.#model.push(bytes);
  }

  #namedIn(answer: Record<string, unknown>): Record<string, unknown> {
    const { codec, requestedModel } = this.#context.facts;
    return namedAnswer(codec, answer, requestedModel);
  }

  #complete(
    { finishReason, answerUsage }: MeasuredAnswer,
    streamed: boolean,
    response: ResponseToStore | null,
  ): void {
    const { status } = this.#input;
    this.#context.sink.settled({
      kind: 'completed',
      status,
      streamed,
      answerUsage,
      finishReason,
      error: null,
      response,
    });
  }

  #passThrough(): boolean {
    if (this.#input.status >= 400 || this.#input.shape === 'assembled' || this.#opened) {
      const message = `The upstream's answer is larger than ${WHOLE_BYTES / 1_048_576} MiB and cannot be rewritten`;
      this.#fail({ error: new GatewayError('upstream_protocol', message), safeToRetry: false });
      return true;
    }
    const buffered = joined(this.#pieces);
    if (!/[{[]/.test(firstCharacter(buffered))) {
      this.#fail({ error: this.#notJson(buffered), safeToRetry: false });
      return true;
    }
    const outline = new JsonOutline();
    outline.push(buffered);
    this.#passing = { outline, inputTokens: estimateInput(this.#context.request.body) };
    const length = Number(this.#input.headers['content-length']);
    this.#pieces = [];
    const named = this.#named(buffered);
    // A name that is still to come changes the length.
    const lengthIsFinal =
      this.#model?.done !== false && this.#input.headers['content-encoding'] === undefined;
    const responseLength =
      lengthIsFinal && Number.isInteger(length) ? length + named.length - buffered.length : null;
    this.#context.sink.committed(null, true);
    this.#context = released(this.#context);
    this.#writeHead(this.#input.status, responseLength, null, []);
    this.#response.on('drain', () => this.#input.attempt?.resume());
    return this.#response.write(named);
  }

  /** `contentType` null keeps the upstream's. */
  #writeHead(status: number, length: number | null, contentType: string | null, extra: string[]): void {
    const headers = clientHeaders(status, this.#input.headers);
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
    addGatewayHeaders(headers, this.#context.facts, this.#context.request, this.#input.headers);
    headers.push(...extra);
    this.#response.writeHead(status, headers);
  }

  /** Whether a stream was begun to keep the client waiting. */
  get #opened(): boolean {
    return this.#context.client.state === 'opened';
  }

  /** Into a stream that keep-alives have opened. */
  #sendFrames(frames: Buffer, measured: MeasuredAnswer, response: ResponseToStore | null): void {
    const { client } = this.#context;
    client.commit(() => [], frames);
    client.end();
    this.#complete(measured, true, response);
  }
}

/** What is kept of an answer that is not held. */
interface PassingAnswer {
  outline: JsonOutline;
  /** Estimated tokens of the request, whose bytes are let go of. */
  inputTokens: number;
}

/** What is read of an answer's own bytes. */
type MeasuredAnswer = Pick<CompletedAnswer, 'answerUsage' | 'finishReason'>;

/** Ends a response. Node joins a string with the headers, but sends a buffer as a piece of its own, at twice the price. */
function endWith(response: ResponseSink, bytes: Buffer): void {
  if (bytes.length > ONE_PIECE_BYTES) response.end(bytes);
  else response.end(bytes.toString('latin1'), 'latin1');
}

/** An error as the first field of a body; a whole answer has its id there. */
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
