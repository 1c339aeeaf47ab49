import type { IncomingHttpHeaders } from 'node:http';
import type { StreamCodec, StreamFacts } from '../../codecs/codec.ts';
import { GatewayError } from '../../lib/error.ts';
import { FrameBuffer } from '../../lib/frame-buffer.ts';
import type { ClientStream } from '../answer/client-stream.ts';
import { addGatewayHeaders } from '../answer/headers.ts';
import { type AnswerModel, modelInStream } from '../answer/model.ts';
import { type Answering, released } from '../answer/reader.ts';
import { cutEnding, errorFrame } from '../answer/stream-ending.ts';
import { joined } from '../json/joined.ts';
import { estimateInput, measureStream, Tap } from '../metering/meter.ts';
import { headerTier } from '../metering/served-tier.ts';
import type { Failure } from '../request/failure.ts';
import type { AttemptOutcome } from '../request/outcome.ts';
import type { PartialAnswer } from '../request/outgoing.ts';
import type { Used } from '../request/use.ts';
import { finalResponse } from '../responses-state/keep.ts';
import { clientHeaders } from '../upstream/headers.ts';
import { isJsonDocument } from './json-answer.ts';
import { partialRelay } from './partial-relay.ts';
import { WholeFrames } from './whole-frames.ts';

/** Preamble that is held back at most; a stream with more of it is committed. */
const HELD_BYTES = 262_144;

/**
 * Relays a stream byte for byte, but for the name of the model. Until the first content frame nothing is sent, so that
 * a failure inside HTTP 200 can still become an HTTP error or another attempt; afterwards chunks pass unread.
 */
export class StreamRelay {
  #answering: Answering;
  readonly #codec: StreamCodec;
  readonly #caller: ClientStream;
  readonly #headers: IncomingHttpHeaders;
  readonly #tap: Tap;
  /** What the caller has of it, where another target is to go on with that; null where chunks pass unread. */
  #whole: WholeFrames | null;
  /** On the way to the caller. All else looks at the upstream's own bytes. */
  readonly #model: AnswerModel;
  #committed = false;
  /** The answer is to be kept, and its request until then. */
  #kept = false;
  /** Nobody reads on. */
  #over = false;
  /** Estimated tokens of the request, made when its bytes are let go: at the commit. */
  #inputTokens = 0;
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** Frames that are held back, until one of them decides. */
  readonly #frames: FrameBuffer<Buffer>;

  constructor(answering: Answering, headers: IncomingHttpHeaders) {
    const { caller, facts } = answering;
    const { codec, plan, requestedModel, responseState } = facts;
    if (codec.stream === null) throw new GatewayError('internal_error', `${codec.format} has no streams`);
    this.#answering = answering;
    const { stream } = codec;
    this.#codec = stream;
    this.#frames = new FrameBuffer((bytes) => stream.split(bytes));
    this.#caller = caller;
    this.#tap = new Tap(codec.stream.framing);
    this.#model = modelInStream(codec.stream, requestedModel);
    this.#headers = headers;
    // A response that its provider keeps has ids that nobody else can go on with.
    const mayContinue = plan.options.continueStream && responseState === null && codec.conversation !== null;
    this.#whole = mayContinue ? new WholeFrames(this.#codec) : null;
  }

  /** Whether the caller has no half of a frame. */
  get endsFrame(): boolean {
    return !this.#committed || this.#whole !== null || this.#tap.endsFrame();
  }

  onData(chunk: Buffer): boolean {
    this.#tap.push(chunk);
    if (this.#committed) return this.#pass(chunk);
    this.#held.push(chunk);
    this.#heldBytes += chunk.length;
    const verdict = this.#examine(chunk);
    if (verdict === 'wait' && this.#heldBytes < HELD_BYTES) return true;
    if (verdict === 'failed') return true;
    return this.#commit();
  }

  /** Once a frame has failed, nothing of what follows it is the answer's. */
  #pass(chunk: Buffer): boolean {
    if (this.#whole === null) return this.#caller.write(this.#model.push(chunk));
    if (this.#over) return true;
    const { bytes, error } = this.#whole.push(chunk);
    const wantsMore = bytes.length === 0 || this.#caller.write(this.#model.push(bytes));
    if (error !== null) {
      const { message, status } = error;
      this.#cut(new GatewayError('upstream_error', message, { status }), this.#facts());
    } else if (this.#whole.tooLong) {
      const rest = this.#whole.rest();
      this.#whole = null;
      this.#release(null);
      if (rest.length > 0) return this.#caller.write(this.#model.push(rest));
    }
    return wantsMore;
  }

  onEnd(): void {
    if (this.#over) return;
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
    // Not every client knows every error record; one that does not must not take the end after it for a good one.
    if (facts.end === 'error' && this.#codec.endings.cut === 'reset') this.#caller.breakOff();
    else this.#end();
    this.#finishAsSaid(facts);
  }

  onFailure(failure: Failure): void {
    if (!this.#committed) {
      this.#fail(failure);
      return;
    }
    this.#breakOff((facts) => this.#cut(facts.end === 'error' ? endError(facts, '') : failure.error, facts));
  }

  onCallerGone(): void {
    const facts = this.#facts();
    if (this.#committed && facts.end === 'complete') this.#finish(null, facts);
    else this.#settle({ kind: 'client-gone', streamed: true, used: this.#used(facts) });
  }

  /** Ends the stream because the gateway stops: with the dialect's error event wherever one can stand, never as if complete. */
  interrupt({ error }: Failure): void {
    if (!this.#committed) {
      this.#fail({ error, safeToRetry: false });
      return;
    }
    this.#breakOff((facts) =>
      this.#interrupt(error, facts, this.endsFrame ? errorFrame(this.#answering, error) : null),
    );
  }

  /** Reads the frames that `chunk` completes, as far as the first one that decides. */
  #examine(chunk: Buffer): 'wait' | 'commit' | 'failed' {
    for (const frame of this.#frames.push(chunk)) {
      const meaning = this.#codec.classify(frame);
      // A record that is no JSON is nothing that a caller can act on, and a stream of nothing else is no answer.
      if (meaning === 'end' || (meaning === 'content' && isJsonDocument(frame.data))) return 'commit';
      if (meaning === 'error') {
        const { message, status } = this.#codec.readError(frame);
        this.#fail({ error: new GatewayError('upstream_error', message, { status }), safeToRetry: false });
        return 'failed';
      }
    }
    return 'wait';
  }

  #commit(): boolean {
    this.#committed = true;
    this.#inputTokens = estimateInput(this.#answering.request.body);
    this.#release(this.#tap.head());
    const headers = () => {
      const own = clientHeaders(200, this.#headers);
      addGatewayHeaders(own, this.#answering.facts, this.#answering.request, this.#headers);
      return own;
    };
    const held = joined(this.#held);
    this.#held = [];
    this.#frames.take();
    if (this.#whole === null) return this.#caller.commit(headers, this.#model.push(held));
    this.#caller.commit(headers, '');
    return this.#pass(held);
  }

  /** The request's bytes are let go of, unless they are needed to keep the answer or to have another target go on with it. */
  #release(began: Buffer | null): void {
    this.#kept = this.#answering.sink.committed(began, this.#whole === null);
    if (this.#whole === null && !this.#kept) this.#answering = released(this.#answering);
  }

  #fail(failure: Failure): void {
    this.#settle({ kind: 'failed', failure });
  }

  #settle(outcome: AttemptOutcome): void {
    this.#answering.sink.settled(outcome);
  }

  /** The stream goes no further. One whose last event was seen has lost nothing and says itself how it ended. */
  #breakOff(onCut: (facts: StreamFacts) => void): void {
    const facts = this.#facts();
    if (this.#isCut(facts)) {
      onCut(facts);
      return;
    }
    if (facts.end === 'complete') this.#end();
    else this.#caller.breakOff();
    this.#finishAsSaid(facts);
  }

  /** Whether the caller has not heard how it ended. An error in the last, half frame is held back. */
  #isCut({ end }: StreamFacts): boolean {
    return end === 'cut' || (end === 'error' && this.#whole !== null);
  }

  /** After the last bytes, which may be a frame that no blank line followed. */
  #end(): void {
    this.#caller.end(this.#whole === null ? '' : this.#model.push(this.#whole.rest()));
  }

  #finishAsSaid(facts: StreamFacts): void {
    if (facts.end === 'complete') this.#finish(null, facts);
    else {
      const message = facts.error?.message ?? 'The stream reported an error';
      this.#finish({ code: 'upstream_error', message }, facts);
    }
  }

  /** The upstream broke off after content: whatever the format's clients cope with best, but never a clean end. */
  #cut(error: GatewayError, facts: StreamFacts): void {
    if (this.#whole !== null) {
      this.#goOn(this.#whole, error, facts);
      return;
    }
    this.#interrupt(error, facts, this.endsFrame ? cutEnding(this.#answering, error) : null);
  }

  /** Another target goes on with what the caller has, if that can be. */
  #goOn(whole: WholeFrames, error: GatewayError, facts: StreamFacts): void {
    this.#over = true;
    const frames = whole.passed();
    // An error that was reported would have passed, had it not been held back.
    const answering = this.#answering;
    const ending = facts.end === 'error' ? errorFrame(answering, error) : cutEnding(answering, error);
    const partial = frames && partialRelay(answering, frames, { error, ending });
    this.#interrupt(error, facts, ending, partial);
  }

  /** The answer ends here, or whoever can goes on with what the caller has. */
  #interrupt(
    error: GatewayError,
    facts: StreamFacts,
    ending: Buffer | null,
    partial: PartialAnswer | null = null,
  ): void {
    const failure = { error, safeToRetry: false };
    const used = this.#used(facts);
    this.#settle({ kind: 'interrupted', failure, status: 200, streamed: true, used, partial, ending });
  }

  #facts(): StreamFacts {
    return this.#codec.readStream(this.#tap.head(), this.#tap.tail());
  }

  #finish(error: { code: string; message: string } | null, facts: StreamFacts): void {
    const { request } = this.#answering;
    const read = () => finalResponse(this.#tap.tail().toString());
    this.#settle({
      kind: 'completed',
      status: 200,
      streamed: true,
      used: this.#used(facts),
      finishReason: this.#answering.facts.codec.readFinishReason?.(this.#tap.tail(), 'stream') ?? null,
      error,
      response: error === null && this.#kept ? { request, read } : null,
    });
  }

  #used(facts: StreamFacts): Used {
    const { codec } = this.#answering.facts;
    const input = this.#committed ? this.#inputTokens : estimateInput(this.#answering.request.body);
    const told = codec.readTier?.(this.#tap.head(), this.#tap.tail(), 'stream') ?? null;
    const tier = told ?? headerTier(this.#headers);
    return { ...measureStream(codec, this.#tap, facts, input), tier };
  }
}

/** Why a stream has not ended well: what it says itself, else `cut`. */
function endError({ error }: StreamFacts, cut: string): GatewayError {
  if (error === null) return new GatewayError('upstream_cut', cut);
  return new GatewayError('upstream_error', error.message, { status: error.status });
}
