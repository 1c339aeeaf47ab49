import type { IncomingHttpHeaders } from 'node:http';
import { AnswerPrefix } from '../../codecs/adapt/continuation.ts';
import type { StreamCodec } from '../../codecs/codec.ts';
import type { FinishReason } from '../../codecs/model/finish-reason.ts';
import type { PartWriter, StreamPart } from '../../codecs/model/stream-part.ts';
import type { Usage } from '../../codecs/wire-format.ts';
import { addUsage, noUsage } from '../../codecs/wire-format.ts';
import type { ResponseSink } from '../../http/response-sink.ts';
import { GatewayError } from '../../lib/error.ts';
import type { Frame } from '../../lib/streams/sse.ts';
import { compactedResponse } from '../../responses/compact.ts';
import type { ClientStream } from '../answer/client-stream.ts';
import { translatedHeaders } from '../answer/headers.ts';
import { type ReaderContext, released } from '../answer/reader.ts';
import { cutEnding, errorFrame, reportedEnding } from '../answer/stream-ending.ts';
import { formatUsd } from '../answer/usd.ts';
import { estimateInput, textTokens, withWritten } from '../metering/meter.ts';
import { headerTier } from '../metering/served-tier.ts';
import type { AnswerUsage } from '../request/answer-usage.ts';
import type { Failure, UpstreamRefusal } from '../request/failure.ts';
import type { ResponseToStore } from '../request/outcome.ts';
import type { PartialAnswer, RequestInFormat } from '../request/outgoing.ts';
import { finalResponse, shouldKeep } from '../responses-state/keep.ts';
import { answerFrames } from './answer-chain.ts';
import { answerText } from './answer-text.ts';
import { conversationCodec } from './request.ts';

/** Parts without content: they alone do not commit the stream. */
const preamble: ReadonlySet<StreamPart['type']> = new Set(['message-start', 'text-start', 'reasoning-start']);

/** The client's side of a translated answer: parts become frames of its format, or one whole answer. */
export class TranslatedAnswer {
  /** The upstream's, once they came. */
  headers: IncomingHttpHeaders = {};
  #context: ReaderContext;
  readonly #translation: RequestInFormat;
  readonly #codec: StreamCodec;
  readonly #response: ResponseSink;
  readonly #client: ClientStream;
  readonly #writer: PartWriter;
  /** What the client has of it, where another target could continue that. */
  readonly #prefix: AnswerPrefix | null;
  /** The client was sent the start of an answer. */
  readonly #started: boolean;
  #hasContent = false;
  /** Frames for the client that were not sent before the commit. */
  #buffer = '';
  /** Those of a whole answer. */
  readonly #frames: Frame[] = [];
  #ended = false;
  #textBytes = 0;
  /** Of the parts that came: none, some, or all as far as the one that has the final usage. */
  #received: 'nothing' | 'some' | 'all' = 'nothing';
  #usage: Usage | null = null;
  /** The service tier that the answer names; null where it names none. */
  #tier: string | null = null;
  #finishReason: FinishReason | null = null;
  /** Estimated tokens of the request, computed when first needed, at the latest when the request is released. */
  #inputTokens: number | null = null;

  constructor(context: ReaderContext, translation: RequestInFormat) {
    const { client, facts, request } = context;
    const { codec, exchange, plan, requestedModel } = facts;
    const { partial } = request;
    this.#context = context;
    this.#translation = translation;
    this.#response = exchange.response;
    this.#codec = conversationCodec(codec.format).stream;
    this.#started = partial?.prefix.started === true;
    this.#client = client;
    const isOpen = translation.continuable && plan.options.continueStream;
    this.#prefix = partial?.prefix ?? (isOpen ? new AnswerPrefix() : null);
    this.#writer =
      partial?.writer ??
      answerFrames(codec.format, translation, {
        id: exchange.id,
        model: requestedModel,
        startedAt: exchange.startedAt,
        ...(translation.stream ? { inputTokens: () => this.#estimatedInput() } : {}),
      });
  }

  /** True once the client has content, of this answer or of one that it continues. */
  get committed(): boolean {
    return this.#client.state === 'committed';
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** True while the client takes no more. */
  get full(): boolean {
    return this.#client.full;
  }

  /** The client is gone. */
  clientGone(): void {
    this.#ended = true;
    const { sink } = this.#context;
    sink.settled({
      kind: 'client-gone',
      streamed: this.#translation.stream,
      answerUsage: this.#answerUsage(),
    });
  }

  /** Writes parts for the client. */
  deliver(parts: readonly StreamPart[]): void {
    let text = '';
    for (const part of parts) {
      if (this.#ended) break;
      if (part.type === 'error') {
        this.#send(text);
        const { message, status } = part.error;
        this.fail(new GatewayError('upstream_error', message, { status }), { reported: true });
        return;
      }
      this.#note(part);
      text += this.#write(part);
      if (this.#translation.stream && !this.#hasContent && !preamble.has(part.type)) {
        this.#hasContent = true;
        this.#release();
        if (!this.committed) {
          this.#buffer += text;
          text = '';
          this.#commit();
        }
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
    if (part.type !== 'message-end') return this.#written(this.#writer.push(part));
    const { priorUsage: prior } = this.#context.request;
    const ownUsage = this.#reported();
    const usage = prior === null ? ownUsage : addUsage(prior.usage, ownUsage);
    return this.#written(this.#writer.push({ ...part, usage }));
  }

  /** The text of frames for a stream; a whole answer is put together from them at its end. */
  #written(frames: readonly Frame[]): string {
    if (this.#translation.stream) return this.#codec.encode(frames);
    this.#frames.push(...frames);
    return '';
  }

  #note(part: StreamPart): void {
    this.#prefix?.note(part);
    this.#received = part.type === 'message-end' ? 'all' : 'some';
    if ('text' in part) this.#textBytes += Buffer.byteLength(part.text);
    if ((part.type === 'message-start' || part.type === 'message-end') && part.usage !== null)
      this.#usage = part.usage;
    if ((part.type === 'message-start' || part.type === 'message-end') && part.tier !== undefined)
      this.#tier = part.tier;
    if (part.type === 'message-end') this.#finishReason = { meaning: part.reason, raw: part.rawFinishReason };
  }

  #send(text: string): void {
    if (text === '') return;
    if (this.committed) this.#client.gather(text);
    else this.#buffer += text;
  }

  /** Commits the stream: from now on no attempt follows, unless the combo lets another target continue the answer. */
  #commit(): void {
    this.#client.commit(() => this.#answerHeaders(200), this.#buffer);
    this.#buffer = '';
  }

  /** Releases the request's bytes, unless another target may have to continue its answer. */
  #release(): void {
    const { facts, sink } = this.#context;
    const isFinal = !facts.plan.options.continueStream;
    if (isFinal) {
      this.#estimatedInput();
      this.#context = released(this.#context);
    }
    sink.committed(null, isFinal);
  }

  #finish(last: string): void {
    if (!this.#translation.stream) {
      this.#finishWhole();
      return;
    }
    this.#ended = true;
    this.#client.end(last);
    this.#complete(this.#answerUsage(), () => finalResponse(last));
  }

  #finishWhole(): void {
    const answer = this.#codec.assemble(this.#frames);
    if (answer === null) {
      this.fail(
        new GatewayError('upstream_protocol', 'The upstream sent an answer that cannot be translated'),
      );
      return;
    }
    const answerUsage = this.#answerUsage();
    const { facts, request, sink } = this.#context;
    const { responseState } = facts;
    const endpoint = responseState?.compacts && responseState.compaction === 'endpoint';
    // Node joins a string with the headers; a buffer would be a piece of its own.
    const text = endpoint
      ? JSON.stringify(compactedResponse(responseState.shown, answer))
      : answerText(answer, this.#translation.request);
    this.#ended = true;
    const { usd } = facts.price(request.target, answerUsage);
    const headers = this.#answerHeaders(200);
    const length = Buffer.byteLength(text);
    headers.push('content-type', 'application/json', 'content-length', String(length));
    if (usd !== null) headers.push('x-gateway-cost-usd', formatUsd(usd));
    sink.committed(null, true);
    this.#response.writeHead(200, headers);
    // Of ASCII these are the same bytes, and Node writes them in half the time.
    this.#response.end(text, length === text.length ? 'latin1' : 'utf8');
    this.#complete(answerUsage, () => answer);
  }

  #complete(answerUsage: AnswerUsage, read: ResponseToStore['read']): void {
    const { facts, request, sink } = this.#context;
    sink.settled({
      kind: 'completed',
      status: 200,
      streamed: this.#translation.stream,
      answerUsage,
      finishReason: this.#finishReason,
      error: null,
      response: shouldKeep(facts, request) ? { request, read } : null,
    });
  }

  /**
   * A failure, in the way that the client's format and the moment allow.
   * @param how.answer the upstream's HTTP error, if it is one
   * @param how.reported whether the upstream reported it in the middle of its stream
   */
  fail(error: GatewayError, how: { answer?: UpstreamRefusal; reported?: boolean } = {}): void {
    this.#ended = true;
    const { answer } = how;
    const failure: Failure = { error, safeToRetry: false, ...(answer === undefined ? {} : { answer }) };
    const context = this.#context;
    if (!this.committed) {
      context.sink.settled({ kind: 'failed', failure });
      return;
    }
    const ending = how.reported === true ? reportedEnding(context, error) : cutEnding(context, error);
    if (!this.#prefix?.continuable) {
      this.#interrupted(failure, ending);
      return;
    }
    // Where nothing was added, the answer broke off for the reason that it had broken off for before.
    const priorPartial = this.#hasContent ? null : context.request.partial;
    const interruption = {
      error: priorPartial?.error ?? error,
      ending: priorPartial === null ? ending : priorPartial.ending,
    };
    this.#interrupted(failure, ending, { writer: this.#writer, prefix: this.#prefix, ...interruption });
  }

  /** Ends the answer where it is, because the gateway stops. */
  interrupt(error: GatewayError): void {
    if (!this.committed) {
      this.fail(error);
      return;
    }
    this.#ended = true;
    this.#interrupted({ error, safeToRetry: false }, errorFrame(this.#context, error));
  }

  /** The answer ends here, or another target continues it. */
  #interrupted(failure: Failure, ending: Buffer | null, partial: PartialAnswer | null = null): void {
    const answerUsage = this.#answerUsage();
    const { sink } = this.#context;
    sink.settled({ kind: 'interrupted', failure, status: 200, streamed: true, answerUsage, partial, ending });
  }

  #answerHeaders(status: number): string[] {
    const { facts, request } = this.#context;
    return translatedHeaders(facts, request, status, this.headers);
  }

  /** Usage as the upstream reported it, else an estimate from the text that passed. */
  #reported(): Usage {
    if (this.#usage !== null) return this.#usage;
    return { ...noUsage, input: this.#estimatedInput(), output: textTokens(this.#textBytes) };
  }

  #estimatedInput(): number {
    this.#inputTokens ??= estimateInput(this.#context.request.body);
    return this.#inputTokens;
  }

  #answerUsage(): AnswerUsage {
    const tier = this.#tier ?? headerTier(this.headers);
    if (this.#received === 'nothing') return { usage: null, estimated: false, tier };
    const usage = this.#reported();
    if (this.#received === 'all') return { usage, estimated: this.#usage === null, tier };
    // What was reported at the beginning is true of the input alone.
    return { usage: withWritten(usage, textTokens(this.#textBytes)), estimated: true, tier };
  }
}
