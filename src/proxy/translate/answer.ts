import type { IncomingHttpHeaders } from 'node:http';
import { BegunAnswer } from '../../codecs/adapt/continuation.ts';
import type { StreamCodec } from '../../codecs/codec.ts';
import type { PartWriter, StreamPart } from '../../codecs/model/stream-part.ts';
import { KeptFrames } from '../../codecs/stream/kept-frames.ts';
import type { Usage } from '../../codecs/wire-format.ts';
import { addUsage, noUsage } from '../../codecs/wire-format.ts';
import type { ResponseSink } from '../../http/response-sink.ts';
import { GatewayError } from '../../lib/error.ts';
import { compactedResponse } from '../../responses/compact.ts';
import type { CallerStream } from '../answer/caller-stream.ts';
import { cutEnding, errorFrame, reportedEnding } from '../answer/stream-ending.ts';
import { type Call, type CallEnd, callerGone, endOfError } from '../dispatch/call.ts';
import { estimateInput, textTokens, withWritten } from '../metering/meter.ts';
import { formatUsd } from '../relay/whole.ts';
import { finalResponse } from '../responses-state/keep.ts';
import type { Failure, UpstreamRefusal } from '../upstream/failure.ts';
import { answerFrames } from './answer-chain.ts';
import { translatedHeaders } from './head.ts';
import { conversationCodec, type TranslatedRequest } from './request.ts';

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
  readonly #response: ResponseSink;
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
  #ended = false;
  #textBytes = 0;
  /** Of the parts that came: none, some, or all as far as the one that has the final usage. */
  #came: 'nothing' | 'some' | 'all' = 'nothing';
  #usage: Usage | null = null;
  /** Estimated tokens of the request, once somebody wanted to know: at the latest when that is let go of. */
  #inputTokens: number | null = null;

  constructor(call: Call, request: TranslatedRequest) {
    this.#call = call;
    this.#request = request;
    this.#response = call.exchange.response;
    const { partialAnswer } = call;
    this.#own = conversationCodec(call.codec.format).stream;
    this.#goesOn = partialAnswer !== null;
    this.#started = partialAnswer?.begun.started === true;
    this.#caller = call.caller;
    this.#begun =
      partialAnswer?.begun ?? (request.continuable && call.midStreamFailover ? new BegunAnswer() : null);
    this.#writer =
      partialAnswer?.writer ??
      answerFrames(call.codec.format, request, {
        id: call.exchange.id,
        model: call.requestedModel,
        startedAt: call.exchange.startedAt,
        ...(request.stream ? { inputTokens: () => this.#estimatedInput() } : { encode: this.#kept.encode }),
      });
  }

  /** True once the caller has content, of this answer or of one that it goes on with. */
  get committed(): boolean {
    return this.#caller.state === 'committed';
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

  /** Writes parts for the caller. */
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
      if (this.#request.stream && !this.#delivers && !preamble.has(part.type)) {
        this.#delivers = true;
        if (!this.committed) {
          this.#held += text;
          text = '';
          this.#commit();
        }
        if (this.#goesOn) this.#call.failovers += 1;
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
    const { priorUsage: spent } = this.#call;
    const own = this.#reported();
    return this.#writer.push({ ...part, usage: spent === null ? own : addUsage(spent.usage, own) });
  }

  #note(part: StreamPart): void {
    this.#begun?.note(part);
    this.#came = part.type === 'message-end' ? 'all' : 'some';
    if ('text' in part) this.#textBytes += Buffer.byteLength(part.text);
    if ((part.type === 'message-start' || part.type === 'message-end') && part.usage !== null)
      this.#usage = part.usage;
    if ((part.type === 'message-start' || part.type === 'message-end') && part.tier !== undefined)
      this.#call.servedTier = part.tier;
  }

  #send(text: string): void {
    if (text === '') return;
    if (this.committed) this.#caller.gather(text);
    else this.#held += text;
  }

  #commit(): void {
    this.#letGo();
    this.#caller.commit(() => this.#answerHeaders(200), this.#held);
    this.#held = '';
  }

  /** Of the request, unless another target may have to go on with its answer. */
  #letGo(): void {
    if (this.#call.midStreamFailover) return;
    this.#estimatedInput();
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
   * @param how.answer the upstream's HTTP error, if it is one
   * @param how.reported whether the upstream reported it in the middle of its stream
   */
  fail(error: GatewayError, how: { answer?: UpstreamRefusal; reported?: boolean } = {}): void {
    this.#ended = true;
    const { answer } = how;
    const failure: Failure = { error, safeToRetry: false, ...(answer === undefined ? {} : { answer }) };
    if (!this.committed) {
      this.#call.failed(failure);
      return;
    }
    const ending = how.reported === true ? reportedEnding(this.#call, error) : cutEnding(this.#call, error);
    if (!this.#begun?.continuable) {
      this.#breakOff(error, ending);
      return;
    }
    // Where nothing was added, the answer broke off for the reason that it had broken off for before.
    const before = this.#delivers ? null : this.#call.partialAnswer;
    const broken = { error: before?.error ?? error, ending: before === null ? ending : before.ending };
    const partialAnswer = { writer: this.#writer, begun: this.#begun, ...broken };
    this.#call.interrupted(failure, partialAnswer, this.#measured());
  }

  /** Ends the answer where it is, because the gateway stops. */
  interrupt(error: GatewayError): void {
    if (!this.committed) {
      this.fail(error);
      return;
    }
    this.#ended = true;
    this.#breakOff(error, errorFrame(this.#call, error));
  }

  #breakOff(error: GatewayError, ending: Buffer | null): void {
    this.#caller.breakOff(ending);
    this.#call.end({ ...endOfError(error, true), status: 200, ...this.#measured() });
  }

  #answerHeaders(status: number): string[] {
    return translatedHeaders(this.#call, status, this.headers);
  }

  /** Usage as the upstream told it, else an estimate from the text that passed (U-12). */
  #reported(): Usage {
    if (this.#usage !== null) return this.#usage;
    return { ...noUsage, input: this.#estimatedInput(), output: textTokens(this.#textBytes) };
  }

  #estimatedInput(): number {
    this.#inputTokens ??= estimateInput([this.#request.body]);
    return this.#inputTokens;
  }

  #measured(): Pick<CallEnd, 'usage' | 'estimated'> {
    if (this.#came === 'nothing') return { usage: null, estimated: false };
    const usage = this.#reported();
    if (this.#came === 'all') return { usage, estimated: this.#usage === null };
    // What was reported at the beginning is true of the input alone.
    return { usage: withWritten(usage, textTokens(this.#textBytes)), estimated: true };
  }
}
