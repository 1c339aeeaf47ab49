import type { IncomingHttpHeaders } from 'node:http';
import type { StreamCodec, StreamFacts } from '../../codecs/codec.ts';
import { GatewayError } from '../../lib/error.ts';
import { FrameBuffer } from '../../lib/streams/frame-buffer.ts';
import type { ClientStream } from '../answer/client-stream.ts';
import { addGatewayHeaders } from '../answer/headers.ts';
import { type AnswerModel, modelInStream } from '../answer/model.ts';
import { type ReaderContext, released } from '../answer/reader.ts';
import { cutEnding, errorFrame } from '../answer/stream-ending.ts';
import { joined } from '../json/joined.ts';
import { estimateInput, measureStream, Tap } from '../metering/meter.ts';
import { headerTier } from '../metering/served-tier.ts';
import type { AnswerUsage } from '../request/answer-usage.ts';
import type { Failure } from '../request/failure.ts';
import type { AttemptOutcome } from '../request/outcome.ts';
import type { PartialAnswer } from '../request/outgoing.ts';
import { finalResponse } from '../responses-state/keep.ts';
import { clientHeaders } from '../upstream/headers.ts';
import { isJsonDocument } from './json-answer.ts';
import { partialRelay } from './partial-relay.ts';
import { WholeFrames } from './whole-frames.ts';

/** How many bytes before the first content are held back at most; a stream with more is committed. */
const MAX_BUFFERED_BYTES = 262_144;

/**
 * Relays a stream byte for byte, but for the name of the model. Until the first content frame nothing is sent, so that
 * a failure inside HTTP 200 can still become an HTTP error or another attempt; afterwards chunks pass unread.
 */
export class StreamRelay {
  #context: ReaderContext;
  readonly #codec: StreamCodec;
  readonly #client: ClientStream;
  readonly #headers: IncomingHttpHeaders;
  readonly #tap: Tap;
  /** What the client has of it, where another target is to continue that; null where chunks pass unread. */
  #whole: WholeFrames | null;
  /** On the way to the client. All else looks at the upstream's own bytes. */
  readonly #model: AnswerModel;
  #committed = false;
  /** The answer is to be stored; until then its request is kept too. */
  #keepsAnswer = false;
  /** The outcome was reported; what still arrives is ignored. */
  #settled = false;
  /** Estimated tokens of the request, computed when its bytes are released: at the commit. */
  #inputTokens = 0;
  #buffer: Buffer[] = [];
  #bufferedBytes = 0;
  /** Frames that are held back, until one of them decides. */
  readonly #frames: FrameBuffer<Buffer>;

  constructor(context: ReaderContext, headers: IncomingHttpHeaders) {
    const { client, facts } = context;
    const { codec, plan, requestedModel, responseState } = facts;
    if (codec.stream === null) throw new GatewayError('internal_error', `${codec.format} has no streams`);
    this.#context = context;
    const { stream } = codec;
    this.#codec = stream;
    this.#frames = new FrameBuffer((bytes) => stream.split(bytes));
    this.#client = client;
    this.#tap = new Tap(codec.stream.framing);
    this.#model = modelInStream(codec.stream, requestedModel);
    this.#headers = headers;
    // A response that its provider stores has ids that no other target can continue.
    const mayContinue = plan.options.continueStream && responseState === null && codec.conversation !== null;
    this.#whole = mayContinue ? new WholeFrames(this.#codec) : null;
  }

  /** Whether what the client has ends with a whole frame. */
  get endsFrame(): boolean {
    return !this.#committed || this.#whole !== null || this.#tap.endsFrame();
  }

  onData(chunk: Buffer): boolean {
    this.#tap.push(chunk);
    if (this.#committed) return this.#pass(chunk);
    this.#buffer.push(chunk);
    this.#bufferedBytes += chunk.length;
    const decision = this.#examine(chunk);
    if (decision === 'wait' && this.#bufferedBytes < MAX_BUFFERED_BYTES) return true;
    if (decision === 'failed') return true;
    return this.#commit();
  }

  /** Once a frame has failed, nothing of what follows it is the answer's. */
  #pass(chunk: Buffer): boolean {
    if (this.#whole === null) return this.#client.write(this.#model.push(chunk));
    if (this.#settled) return true;
    const { bytes, error } = this.#whole.push(chunk);
    const wantsMore = bytes.length === 0 || this.#client.write(this.#model.push(bytes));
    if (error !== null) {
      const { message, status } = error;
      this.#cut(new GatewayError('upstream_error', message, { status }), this.#facts());
    } else if (this.#whole.tooLong) {
      const rest = this.#whole.rest();
      this.#whole = null;
      this.#release(null);
      if (rest.length > 0) return this.#client.write(this.#model.push(rest));
    }
    return wantsMore;
  }

  onEnd(): void {
    if (this.#settled) return;
    const facts = this.#facts();
    if (!this.#committed && facts.end !== 'complete') {
      const error = endError(
        facts,
        'The upstream ended its stream before any content and without its final event',
      );
      this.#fail({ error, safeToRetry: false });
      return;
    }
    if (!this.#committed) this.#commit();
    if (this.#isCut(facts)) {
      this.#cut(endError(facts, 'The upstream ended its stream without its final event'), facts);
      return;
    }
    // Not every client recognizes every error record; such a client must not take the end after it for a good one.
    if (facts.end === 'error' && this.#codec.endings.cut === 'reset') this.#client.reset();
    else this.#end();
    this.#finishAsReported(facts);
  }

  onFailure(failure: Failure): void {
    if (!this.#committed) {
      this.#fail(failure);
      return;
    }
    this.#stop((facts) => this.#cut(facts.end === 'error' ? endError(facts, '') : failure.error, facts));
  }

  onClientGone(): void {
    const facts = this.#facts();
    if (this.#committed && facts.end === 'complete') this.#finish(null, facts);
    else this.#settle({ kind: 'client-gone', streamed: true, answerUsage: this.#answerUsage(facts) });
  }

  /** Ends the stream because the gateway stops: with the dialect's error event wherever one can stand, never as if complete. */
  interrupt({ error }: Failure): void {
    if (!this.#committed) {
      this.#fail({ error, safeToRetry: false });
      return;
    }
    this.#stop((facts) =>
      this.#interrupt(error, facts, this.endsFrame ? errorFrame(this.#context, error) : null),
    );
  }

  /** Reads the frames that `chunk` completes, as far as the first one that decides. */
  #examine(chunk: Buffer): 'wait' | 'commit' | 'failed' {
    for (const frame of this.#frames.push(chunk)) {
      const meaning = this.#codec.classify(frame);
      // A record that is no JSON is nothing that a client can act on, and a stream of nothing else is no answer.
      if (meaning === 'end' || (meaning === 'content' && isJsonDocument(frame.data))) return 'commit';
      if (meaning === 'error') {
        const { message, status } = this.#codec.readError(frame);
        this.#fail({ error: new GatewayError('upstream_error', message, { status }), safeToRetry: false });
        return 'failed';
      }
    }
    return 'wait';
  }

  /**
   * Commits the stream: sends the client the head and everything that was held back. From now on no attempt follows, unless the
   * combo lets another target continue the answer (`#handOver`).
   */
  #commit(): boolean {
    this.#committed = true;
    this.#inputTokens = estimateInput(this.#context.request.body);
    this.#release(this.#tap.head());
    const headers = () => {
      const own = clientHeaders(200, this.#headers);
      addGatewayHeaders(own, this.#context.facts, this.#context.request, this.#headers);
      return own;
    };
    const buffered = joined(this.#buffer);
    this.#buffer = [];
    this.#frames.take();
    if (this.#whole === null) return this.#client.commit(headers, this.#model.push(buffered));
    this.#client.commit(headers, '');
    return this.#pass(buffered);
  }

  /** Releases the request's bytes, unless they are needed to store the answer or to continue it at another target. */
  #release(firstBytes: Buffer | null): void {
    this.#keepsAnswer = this.#context.sink.committed(firstBytes, this.#whole === null);
    if (this.#whole === null && !this.#keepsAnswer) this.#context = released(this.#context);
  }

  #fail(failure: Failure): void {
    this.#settle({ kind: 'failed', failure });
  }

  #settle(outcome: AttemptOutcome): void {
    this.#context.sink.settled(outcome);
  }

  /** The stream goes no further. One whose last event was seen has lost nothing and says itself how it ended. */
  #stop(ifCut: (facts: StreamFacts) => void): void {
    const facts = this.#facts();
    if (this.#isCut(facts)) {
      ifCut(facts);
      return;
    }
    if (facts.end === 'complete') this.#end();
    else this.#client.reset();
    this.#finishAsReported(facts);
  }

  /** Whether the client has not been sent how it ended. An error in the last, half frame is held back. */
  #isCut({ end }: StreamFacts): boolean {
    return end === 'cut' || (end === 'error' && this.#whole !== null);
  }

  /** After the last bytes, which may be a frame that no blank line followed. */
  #end(): void {
    this.#client.end(this.#whole === null ? '' : this.#model.push(this.#whole.rest()));
  }

  #finishAsReported(facts: StreamFacts): void {
    if (facts.end === 'complete') this.#finish(null, facts);
    else {
      const message = facts.error?.message ?? 'The stream reported an error';
      this.#finish({ code: 'upstream_error', message }, facts);
    }
  }

  /** The upstream broke off after content: whatever the format's clients cope with best, but never a clean end. */
  #cut(error: GatewayError, facts: StreamFacts): void {
    if (this.#whole !== null) {
      this.#handOver(this.#whole, error, facts);
      return;
    }
    this.#interrupt(error, facts, this.endsFrame ? cutEnding(this.#context, error) : null);
  }

  /** Another target continues what the client has, if possible. */
  #handOver(whole: WholeFrames, error: GatewayError, facts: StreamFacts): void {
    this.#settled = true;
    const frames = whole.allFrames();
    // An error that was reported would have passed, had it not been held back.
    const context = this.#context;
    const ending = facts.end === 'error' ? errorFrame(context, error) : cutEnding(context, error);
    const partial = frames && partialRelay(context, frames, { error, ending });
    this.#interrupt(error, facts, ending, partial);
  }

  /** The answer ends here, or another target continues it. */
  #interrupt(
    error: GatewayError,
    facts: StreamFacts,
    ending: Buffer | null,
    partial: PartialAnswer | null = null,
  ): void {
    const failure = { error, safeToRetry: false };
    const answerUsage = this.#answerUsage(facts);
    this.#settle({ kind: 'interrupted', failure, status: 200, streamed: true, answerUsage, partial, ending });
  }

  #facts(): StreamFacts {
    return this.#codec.readStream(this.#tap.head(), this.#tap.tail());
  }

  #finish(error: { code: string; message: string } | null, facts: StreamFacts): void {
    const { request } = this.#context;
    const read = () => finalResponse(this.#tap.tail().toString());
    this.#settle({
      kind: 'completed',
      status: 200,
      streamed: true,
      answerUsage: this.#answerUsage(facts),
      finishReason: this.#context.facts.codec.readFinishReason?.(this.#tap.tail(), 'stream') ?? null,
      error,
      response: error === null && this.#keepsAnswer ? { request, read } : null,
    });
  }

  #answerUsage(facts: StreamFacts): AnswerUsage {
    const { codec } = this.#context.facts;
    const input = this.#committed ? this.#inputTokens : estimateInput(this.#context.request.body);
    const reportedTier = codec.readTier?.(this.#tap.head(), this.#tap.tail(), 'stream') ?? null;
    const tier = reportedTier ?? headerTier(this.#headers);
    return { ...measureStream(codec, this.#tap, facts, input), tier };
  }
}

/** Why a stream has not ended well: what it says itself, else `cut`. */
function endError({ error }: StreamFacts, cut: string): GatewayError {
  if (error === null) return new GatewayError('upstream_cut', cut);
  return new GatewayError('upstream_error', error.message, { status: error.status });
}
