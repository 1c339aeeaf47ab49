import type { IncomingHttpHeaders } from 'node:http';
import type { StreamCodec } from '../codecs/codec.ts';
import type { Usage } from '../codecs/model.ts';
import { noUsage } from '../codecs/model.ts';
import type { PartWriter, StreamPart } from '../codecs/stream-part.ts';
import type { Outlet } from '../http/outlet.ts';
import { GatewayError } from '../lib/error.ts';
import { compactedResponse } from '../responses/compact.ts';
import { type Call, type CallEnd, callerGone, endOfError } from './call.ts';
import { CallerStream } from './caller-stream.ts';
import { estimateInput, textTokens } from './meter.ts';
import { formatUsd } from './relay-whole.ts';
import { finalResponse } from './responses-keep.ts';
import { translatedHeaders } from './translate-head.ts';
import { conversationCodec, type TranslatedRequest } from './translate-request.ts';

/** Parts that commit the gateway to nothing. */
const preamble: ReadonlySet<StreamPart['type']> = new Set(['message-start', 'text-start', 'reasoning-start']);

/** The caller's side of a translated answer: parts become frames of its format, or one whole answer. */
export class TranslatedAnswer {
  /** The upstream's, once they came. */
  headers: IncomingHttpHeaders = {};
  readonly #call: Call;
  readonly #request: TranslatedRequest;
  readonly #own: StreamCodec;
  readonly #response: Outlet;
  readonly #caller: CallerStream;
  readonly #writer: PartWriter;
  /** Frames for the caller that were not sent: before the commit, and of a whole answer. */
  #held = '';
  #committed = false;
  #ended = false;
  #textBytes = 0;
  #usage: Usage | null = null;
  #silence = 0;

  constructor(call: Call, request: TranslatedRequest) {
    this.#call = call;
    this.#request = request;
    this.#response = call.exchange.response;
    this.#caller = new CallerStream(call);
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

  get committed(): boolean {
    return this.#committed;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** The call goes on without this answer, or the caller is gone. */
  abandon(): void {
    this.#ended = true;
  }

  gone(): void {
    this.#ended = true;
    this.#call.end({ ...callerGone(this.#request.stream), ...this.#measured() });
  }

  /** Keeps a silent stream alive, once it has been silent for so long. */
  tick(elapsed: number, keepAliveMs: number): void {
    this.#silence += elapsed;
    if (this.#silence < keepAliveMs || !this.#request.stream || this.#ended) return;
    this.#silence = 0;
    const { keepAlive } = this.#own;
    if (keepAlive === null || this.#caller.full) return;
    if (!this.#committed) this.#commit();
    this.#caller.write(keepAlive);
  }

  /** Writes parts for the caller. False when it takes no more for now. */
  deliver(parts: readonly StreamPart[]): boolean {
    let text = '';
    for (const part of parts) {
      if (this.#ended) break;
      if (part.type === 'error') {
        this.#send(text);
        const { message, status } = part.error;
        this.fail(new GatewayError('upstream_error', message, { status }));
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
      this.fail(
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
  fail(error: GatewayError): void {
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
  answerError(error: GatewayError): void {
    this.#ended = true;
    const { codec, exchange } = this.#call;
    const bytes = Buffer.from(JSON.stringify(codec.encodeError(error, exchange.id)));
    // Google says in the body when to try again.
    if (error.retryAfter !== null) this.headers['retry-after'] ??= String(error.retryAfter);
    const headers = this.#answerHeaders(error.status);
    headers.push('content-type', 'application/json', 'content-length', String(bytes.length));
    this.#response.writeHead(error.status, headers);
    this.#response.end(bytes);
    this.#call.end(endOfError(error, false));
  }

  #answerHeaders(status: number): string[] {
    return translatedHeaders(this.#call, status, this.headers);
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
