import type { IncomingHttpHeaders } from 'node:http';
import type { StreamCodec } from '../codecs/codec.ts';
import { BegunAnswer } from '../codecs/continuation.ts';
import { KeptFrames } from '../codecs/kept-frames.ts';
import type { Usage } from '../codecs/model.ts';
import { addUsage, noUsage } from '../codecs/model.ts';
import type { PartWriter, StreamPart } from '../codecs/stream-part.ts';
import type { Outlet } from '../http/outlet.ts';
import { GatewayError } from '../lib/error.ts';
import { compactedResponse } from '../responses/compact.ts';
import { type Call, type CallEnd, callerGone, endOfError } from './call.ts';
import { CallerStream } from './caller-stream.ts';
import type { Failure, UpstreamRefusal } from './failure.ts';
import { estimateInput, textTokens } from './meter.ts';
import { formatUsd } from './relay-whole.ts';
import { finalResponse } from './responses-keep.ts';
import { translatedHeaders } from './translate-head.ts';
import { conversationCodec, type TranslatedRequest } from './translate-request.ts';
import { breakOff } from './unfinished.ts';

const NOTHING = Buffer.alloc(0);

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
  /** What the caller has of it, where another target could go on with that. */
  readonly #begun: BegunAnswer | null;
  /** Another target began it. */
  readonly #goesOn: boolean;
  /** The caller was told that an answer begins. */
  readonly #started: boolean;
  #delivers = false;
  /** Frames for the caller that were not sent: before the commit, and, by their names, of a whole answer. */
  #held = '';
  readonly #kept = new KeptFrames();
  #committed = false;
  #ended = false;
  #textBytes = 0;
  #usage: Usage | null = null;
  #silence = 0;
  /** Estimated tokens of the request, once that is let go of. */
  #inputTokens: number | null = null;

  constructor(call: Call, request: TranslatedRequest) {
    this.#call = call;
    this.#request = request;
    this.#response = call.exchange.response;
    const { unfinished } = call;
    const own = conversationCodec(call.codec.format);
    this.#own = own.stream;
    this.#goesOn = unfinished !== null;
    this.#started = unfinished?.begun.started === true;
    this.#committed = this.#goesOn;
    this.#caller = unfinished?.caller ?? new CallerStream(call);
    this.#begun = unfinished?.begun ?? (request.continuable && call.goesOn ? new BegunAnswer() : null);
    this.#writer =
      unfinished?.writer ??
      own.conversation.writer({
        id: call.exchange.id,
        model: call.requestedModel,
        startedAt: call.exchange.startedAt,
        includeUsage: request.includeUsage,
        request: request.request,
        ...(request.stream ? {} : { encode: this.#kept.encode }),
      });
  }

  get committed(): boolean {
    return this.#committed;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** True while the caller takes no more. */
  get full(): boolean {
    return this.#caller.full;
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

  /** Writes parts for the caller. */
  deliver(parts: readonly StreamPart[]): void {
    let text = '';
    for (const part of parts) {
      if (this.#ended) break;
      if (part.type === 'error') {
        this.#send(text);
        const { message, status } = part.error;
        this.fail(new GatewayError('upstream_error', message, { status }));
        return;
      }
      this.#note(part);
      text += this.#write(part);
      if (this.#request.stream && !this.#delivers && !preamble.has(part.type)) {
        this.#delivers = true;
        if (!this.#committed) {
          this.#held += text;
          text = '';
          this.#commit();
        }
        if (this.#goesOn) this.#call.continued += 1;
        this.#call.delivers();
      }
      if (part.type === 'message-end') {
        const all = text;
        text = '';
        this.#finish(all);
      }
    }
    this.#send(text);
  }

  #write(part: StreamPart): string {
    if (part.type === 'message-start' && this.#started) return '';
    if (part.type !== 'message-end') return this.#writer.push(part);
    const { spent } = this.#call;
    const own = this.#reported();
    return this.#writer.push({ ...part, usage: spent === null ? own : addUsage(spent.usage, own) });
  }

  #note(part: StreamPart): void {
    this.#begun?.note(part);
    if ('text' in part) this.#textBytes += Buffer.byteLength(part.text);
    if ((part.type === 'message-start' || part.type === 'message-end') && part.usage !== null)
      this.#usage = part.usage;
  }

  #send(text: string): void {
    if (text === '') return;
    if (this.#committed) {
      this.#silence = 0;
      this.#caller.gather(text);
    } else this.#held += text;
  }

  #commit(): void {
    this.#committed = true;
    this.#letGo();
    this.#call.firstByteAt ??= performance.now();
    const headers = this.#answerHeaders(200);
    headers.push('content-type', this.#caller.contentType, 'cache-control', 'no-cache');
    headers.push('x-accel-buffering', 'no');
    this.#caller.open(headers, this.#held, () => this.#call.attempt?.resume());
    this.#held = '';
  }

  /** Of the request, unless another target may have to go on with its answer. */
  #letGo(): void {
    if (this.#call.goesOn) return;
    this.#inputTokens = estimateInput([this.#request.body]);
    this.#request.body = NOTHING;
    this.#call.body = [];
  }

  #finish(last: string): void {
    const measured = this.#measured();
    const { stream: streamed } = this.#request;
    const end: CallEnd = { status: 200, outcome: 'ok', error: null, streamed, ...measured };
    if (!streamed) {
      this.#finishWhole(last, end);
      return;
    }
    this.#ended = true;
    this.#call.answered(() => finalResponse(last));
    this.#caller.end(last);
    this.#call.end(end);
    this.#call.attempt?.closeSoon();
  }

  #finishWhole(last: string, end: CallEnd): void {
    const answer = this.#own.assemble(this.#kept.namedIn(this.#held + last));
    if (answer === null) {
      this.fail(
        new GatewayError('upstream_protocol', 'The upstream sent an answer that cannot be translated'),
      );
      return;
    }
    const { turn } = this.#call;
    const endpoint = turn?.compacts && turn.compaction === 'endpoint';
    // Node joins a string with the headers; a buffer would be a piece of its own.
    const text = JSON.stringify(endpoint ? compactedResponse(turn.shown, answer) : answer);
    this.#ended = true;
    this.#call.answered(() => answer);
    const { usd } = this.#call.price(end.usage);
    const headers = this.#answerHeaders(200);
    headers.push('content-type', 'application/json', 'content-length', String(Buffer.byteLength(text)));
    if (usd !== null) headers.push('x-gateway-cost-usd', formatUsd(usd));
    this.#call.delivers();
    this.#response.writeHead(200, headers);
    this.#response.end(text);
    this.#call.end(end);
  }

  /**
   * A failure, in the way that the caller's format and the moment allow.
   * @param answer the upstream's HTTP error, if it is one
   */
  fail(error: GatewayError, answer?: UpstreamRefusal): void {
    this.#ended = true;
    const failure: Failure = { error, safeToRetry: false, ...(answer === undefined ? {} : { answer }) };
    if (!this.#committed) {
      this.#call.failed(failure);
      return;
    }
    if (this.#begun?.continuable) {
      // Where nothing was added, the answer broke off for the reason that it had broken off for before.
      const reason = this.#delivers ? error : (this.#call.unfinished?.error ?? error);
      const unfinished = { caller: this.#caller, writer: this.#writer, begun: this.#begun, error: reason };
      this.#call.brokeOff(failure, unfinished, this.#measured());
    } else this.#breakOff(error);
  }

  /** Ends the answer where it is, because the gateway stops. */
  interrupt(error: GatewayError): void {
    if (!this.#committed) {
      this.fail(error);
      return;
    }
    this.#ended = true;
    this.#breakOff(error);
  }

  #breakOff(error: GatewayError): void {
    breakOff(this.#call, this.#caller, error);
    this.#call.end({ ...endOfError(error, true), status: 200, ...this.#measured() });
  }

  #answerHeaders(status: number): string[] {
    return translatedHeaders(this.#call, status, this.headers);
  }

  /** Usage as the upstream told it, else an estimate from the text that passed (U-12). */
  #reported(): Usage {
    if (this.#usage !== null) return this.#usage;
    const input = this.#inputTokens ?? estimateInput([this.#request.body]);
    return { ...noUsage, input, output: textTokens(this.#textBytes) };
  }

  #measured(): Pick<CallEnd, 'usage' | 'estimated'> {
    if (this.#usage === null && this.#textBytes === 0) return { usage: null, estimated: false };
    return { usage: this.#reported(), estimated: this.#usage === null };
  }
}
