import type { IncomingHttpHeaders } from 'node:http';
import type { Codec, StreamCodec } from '../codecs/codec.ts';
import type { Usage } from '../codecs/model.ts';
import { noUsage } from '../codecs/model.ts';
import { restoreTools } from '../codecs/restore.ts';
import { ownSeals } from '../codecs/seal-owner.ts';
import type { PartReader, PartWriter, StreamPart } from '../codecs/stream-part.ts';
import { isObject, parseObject } from '../codecs/values.ts';
import type { Outlet } from '../http/outlet.ts';
import { GatewayError } from '../lib/error.ts';
import { compactedResponse, compacting } from '../responses/compact.ts';
import { shapeOf } from './answer-shape.ts';
import type { AnswerReader } from './attempt.ts';
import { type Call, type CallEnd, callerGone, endOfError } from './call.ts';
import { CallerStream } from './caller-stream.ts';
import type { Failure } from './failure.ts';
import { estimateInput, joined, textTokens } from './meter.ts';
import { formatUsd } from './relay-whole.ts';
import { finalResponse } from './responses-keep.ts';
import { translatedHeaders } from './translate-head.ts';
import { conversationCodec, ownerOf, type TranslatedRequest } from './translate-request.ts';
import { readUpstreamError } from './upstream-error.ts';

/** Most bytes of one whole answer, or of one frame of a stream. */
const HELD_BYTES = 16 * 1024 * 1024;

/** Parts that commit the gateway to nothing. */
const preamble: ReadonlySet<StreamPart['type']> = new Set(['message-start', 'text-start', 'reasoning-start']);

/** Carries one upstream answer of another format to the caller, part by part. */
export class Translation implements AnswerReader {
  readonly #call: Call;
  readonly #request: TranslatedRequest;
  readonly #keepAliveMs: number;
  readonly #upstream: Codec & { stream: StreamCodec };
  readonly #own: StreamCodec;
  readonly #response: Outlet;
  readonly #caller: CallerStream;
  readonly #reader: PartReader;
  readonly #writer: PartWriter;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  /** Bytes of an unfinished frame, or all bytes of a whole answer. */
  #pieces: Buffer[] = [];
  #pieceBytes = 0;
  #shape: 'unknown' | 'stream' | 'whole' = 'unknown';
  /** Frames for the caller that were not sent: before the commit, and of a whole answer. */
  #held = '';
  #committed = false;
  #ended = false;
  #textBytes = 0;
  #usage: Usage | null = null;
  #silence = 0;

  constructor(call: Call, request: TranslatedRequest, keepAliveMs: number) {
    this.#call = call;
    this.#request = request;
    this.#keepAliveMs = keepAliveMs;
    this.#response = call.exchange.response;
    this.#caller = new CallerStream(call);
    const upstream = conversationCodec(call.target.format);
    this.#upstream = upstream;
    const restored = restoreTools(upstream.conversation.reader(), request.tools);
    const reader = ownSeals(restored, ownerOf(call.target));
    this.#reader = call.turn?.compacts === true ? compacting(reader, call.exchange.id) : reader;
    const own = conversationCodec(call.codec.format);
    this.#own = own.stream;
    this.#writer = own.conversation.writer({
      id: call.exchange.id,
      model: call.requestedModel,
      startedAt: call.exchange.startedAt,
      includeUsage: request.includeUsage,
      request: request.request,
    });
  }

  onHead(status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#headers = headers;
    const id = headers['request-id'] ?? headers['x-request-id'];
    if (typeof id === 'string') this.#call.upstreamRequestId = id;
    if (status < 300) return;
    this.#shape = 'whole';
    if (status < 400)
      throw new GatewayError(
        'upstream_redirect',
        `The upstream answered with a redirect (${status}); check the connection's base URL`,
      );
  }

  onData(chunk: Buffer): boolean {
    if (this.#ended) return true;
    if (this.#shape === 'unknown')
      this.#shape = this.#upstream.stream.framing === 'lines' ? 'stream' : shapeOf(chunk);
    this.#pieces.push(chunk);
    this.#pieceBytes += chunk.length;
    if (this.#pieceBytes > HELD_BYTES) {
      this.#call.attempt?.abort();
      const what = this.#shape === 'whole' ? 'answer' : 'stream has a record that';
      this.#fail(
        new GatewayError('upstream_protocol', `The upstream's ${what} is larger than ${HELD_BYTES} bytes`),
      );
      return true;
    }
    if (this.#shape !== 'stream') return true;
    // Without a line end no record can have become complete.
    if (!chunk.includes(LF) && !chunk.includes(CR)) return true;
    const { frames, rest } = this.#upstream.stream.split(joined(this.#pieces));
    this.#pieces = rest.length === 0 ? [] : [rest];
    this.#pieceBytes = rest.length;
    return this.#deliver(frames.flatMap((frame) => this.#reader.push(frame)));
  }

  onEnd(): void {
    if (this.#ended) return;
    const body = joined(this.#pieces);
    if (this.#shape !== 'stream') {
      this.#onWhole(body);
      return;
    }
    const { frames } = this.#upstream.stream.split(Buffer.concat([body, Buffer.from('\n\n')]));
    this.#deliver([...frames.flatMap((frame) => this.#reader.push(frame)), ...this.#reader.end()]);
    if (!this.#ended)
      this.#fail(new GatewayError('upstream_cut', 'The upstream ended its stream without its final event'));
  }

  onFailure(failure: Failure): void {
    if (this.#ended) return;
    if (this.#committed) this.#fail(failure.error);
    else this.#call.failed(failure);
  }

  onCallerGone(): void {
    this.#ended = true;
    this.#call.end({ ...callerGone(this.#request.stream), ...this.#measured() });
  }

  interrupt(error: GatewayError): void {
    if (!this.#ended) this.#fail(error);
  }

  tick(elapsed: number): void {
    this.#silence += elapsed;
    if (this.#silence < this.#keepAliveMs || !this.#request.stream || this.#ended || this.#status >= 300)
      return;
    this.#silence = 0;
    const { keepAlive } = this.#own;
    if (keepAlive === null || this.#caller.full) return;
    if (!this.#committed) this.#commit();
    this.#caller.write(keepAlive);
  }

  #onWhole(body: Buffer): void {
    const { format } = this.#upstream;
    if (this.#status >= 400) {
      const { error } = readUpstreamError({
        ...{ format, status: this.#status, headers: this.#headers, body },
        target: this.#call.target,
      });
      if (this.#call.triedAgain(error)) this.#ended = true;
      else this.#answerError(error);
      return;
    }
    const answer = parseObject(body.toString('utf8'));
    if (answer !== null && isObject(answer['error'])) {
      const { error } = readUpstreamError({
        ...{ format, status: 502, headers: this.#headers, body },
        target: this.#call.target,
      });
      this.#fail(error);
      return;
    }
    const { stream } = this.#upstream;
    if (answer === null) {
      this.#fail(
        new GatewayError('upstream_protocol', 'The upstream answered with something that is no JSON'),
      );
      return;
    }
    const { frames } = stream.split(stream.encodeFramesOf(answer));
    this.#deliver([...frames.flatMap((frame) => this.#reader.push(frame)), ...this.#reader.end()]);
  }

  /** Writes parts for the caller. False when it takes no more for now. */
  #deliver(parts: readonly StreamPart[]): boolean {
    let text = '';
    for (const part of parts) {
      if (this.#ended) break;
      if (part.type === 'error') {
        this.#send(text);
        const { message, status } = part.error;
        this.#fail(new GatewayError('upstream_error', message, { status }));
        return true;
      }
      this.#note(part);
      text += this.#writer.push(part.type === 'message-end' ? { ...part, usage: this.#reported() } : part);
      if (this.#request.stream && !this.#committed && !preamble.has(part.type)) {
        this.#held += text;
        text = '';
        this.#commit();
      }
      if (part.type === 'message-end') {
        const all = text;
        text = '';
        this.#finish(all);
      }
    }
    return this.#send(text);
  }

  #note(part: StreamPart): void {
    if ('text' in part) this.#textBytes += Buffer.byteLength(part.text);
    if ((part.type === 'message-start' || part.type === 'message-end') && part.usage !== null)
      this.#usage = part.usage;
  }

  #send(text: string): boolean {
    if (text === '') return true;
    if (this.#committed) {
      this.#silence = 0;
      return this.#caller.write(text);
    }
    this.#held += text;
    return true;
  }

  #commit(): void {
    this.#committed = true;
    this.#call.firstByteAt = performance.now();
    const headers = this.#answerHeaders(200);
    headers.push('content-type', this.#caller.contentType, 'cache-control', 'no-cache');
    headers.push('x-accel-buffering', 'no');
    this.#caller.open(headers, this.#held, () => this.#call.attempt?.resume());
    this.#held = '';
  }

  #finish(last: string): void {
    this.#ended = true;
    this.#call.answered(() => finalResponse(last));
    const measured = this.#measured();
    const end: CallEnd = {
      status: 200,
      outcome: 'ok',
      error: null,
      streamed: this.#request.stream,
      ...measured,
    };
    if (this.#request.stream) {
      this.#caller.end(last);
      this.#call.end(end);
      return;
    }
    const { frames } = this.#own.split(Buffer.from(this.#held + last));
    const answer = this.#own.assemble(frames);
    if (answer === null) {
      this.#ended = false;
      this.#fail(
        new GatewayError('upstream_protocol', 'The upstream sent an answer that cannot be translated'),
      );
      return;
    }
    const { turn } = this.#call;
    const endpoint = turn?.compacts && turn.compaction === 'endpoint';
    const told = endpoint ? compactedResponse(turn.shown, answer) : answer;
    const bytes = Buffer.from(JSON.stringify(told));
    const { usd } = this.#call.price(measured.usage);
    const headers = this.#answerHeaders(200);
    headers.push('content-type', 'application/json', 'content-length', String(bytes.length));
    if (usd !== null) headers.push('x-gateway-cost-usd', formatUsd(usd));
    this.#call.firstByteAt = performance.now();
    this.#response.writeHead(200, headers);
    this.#response.end(bytes);
    this.#call.end(end);
  }

  /** A failure, in the way that the caller's format and the moment allow. */
  #fail(error: GatewayError): void {
    this.#ended = true;
    if (!this.#committed) {
      this.#call.failed({ error, safeToRetry: false });
      return;
    }
    if (this.#own.cutEnding === 'error-frame')
      this.#caller.breakOff(this.#own.encodeErrorFrame(error, this.#call.exchange.id));
    else this.#caller.breakOff();
    this.#call.end({ ...endOfError(error, true), status: 200, ...this.#measured() });
  }

  /** An HTTP error of the upstream, in the caller's dialect, with its status and its limits' headers. */
  #answerError(error: GatewayError): void {
    this.#ended = true;
    const { codec, exchange } = this.#call;
    const bytes = Buffer.from(JSON.stringify(codec.encodeError(error, exchange.id)));
    // Google says in the body when to try again.
    if (error.retryAfter !== null) this.#headers['retry-after'] ??= String(error.retryAfter);
    const headers = this.#answerHeaders(error.status);
    headers.push('content-type', 'application/json', 'content-length', String(bytes.length));
    this.#response.writeHead(error.status, headers);
    this.#response.end(bytes);
    this.#call.end(endOfError(error, false));
  }

  #answerHeaders(status: number): string[] {
    return translatedHeaders(this.#call, status, this.#headers);
  }

  /** Usage as the upstream told it, else an estimate from the text that passed (U-12). */
  #reported(): Usage {
    if (this.#usage !== null) return this.#usage;
    return { ...noUsage, input: estimateInput([this.#request.body]), output: textTokens(this.#textBytes) };
  }

  #measured(): Pick<CallEnd, 'usage' | 'estimated'> {
    if (this.#usage === null && this.#textBytes === 0) return { usage: null, estimated: false };
    return { usage: this.#reported(), estimated: this.#usage === null };
  }
}

const LF = 0x0a;
const CR = 0x0d;
