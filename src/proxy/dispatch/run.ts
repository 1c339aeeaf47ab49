import type { Target } from '../../combos/resolve.ts';
import { nameOf } from '../../combos/target.ts';
import type { TracedAttempt } from '../../combos/trace.ts';
import { faults } from '../../health/faults.ts';
import type { Judgement, Running } from '../../health/running.ts';
import { GatewayError, isErrorCode } from '../../lib/error.ts';
import { answerFailure } from '../answer/failure.ts';
import { answerReader } from '../answer/reader.ts';
import { errorFrame } from '../answer/stream-ending.ts';
import type { OpenCall, ProxyContext, RunningCall } from '../context.ts';
import { withoutRoom } from '../inbound/admit.ts';
import { wantsStream } from '../inbound/wants-stream.ts';
import { totalUsage } from '../metering/prior-usage.ts';
import { learnedCap } from '../quirks/output-caps.ts';
import { learnedRefusal } from '../quirks/refused-members.ts';
import { leaveOutSeals } from '../quirks/retry-unsealed.ts';
import { type AnswerReader, Attempt } from '../upstream/attempt.ts';
import type { Failure } from '../upstream/failure.ts';
import { upstreamRequest } from '../upstream/request.ts';
import { type FailedTarget, mostUseful, shortOf, tracedError } from './attempt-failures.ts';
import { type Call, type CallEnd, callerGone, endOfError, openingHeaders } from './call.ts';
import { newCall, type Prepared } from './new-call.ts';
import type { PartialAnswer } from '../relay/partial-relay.ts';
import { toGoOn } from '../translate/prefill.ts';
import { TargetSelector } from './target-selector.ts';

/**
 * Runs a prepared call: one attempt after the other until one answers, nobody is left to ask or the caller leaves. The
 * only retry loop.
 */
export function runCall(context: ProxyContext, prepared: Prepared): void {
  new Run(context, prepared).start();
}

/** A call on its way. A class, because there is one for every request. */
class Run implements OpenCall {
  slot = -1;
  readonly #context: ProxyContext;
  /** Not its body: that is let go of once a stream has begun, and the call has it until then. */
  readonly #prepared: Omit<Prepared, 'body'>;
  readonly #call: Call;
  readonly #selector: TargetSelector;
  readonly #failed: FailedTarget[] = [];
  /** Null while nobody is asked. */
  #reader: AnswerReader | null = null;
  /** The account's view of the turn under way. */
  #running: Running | null = null;
  #attempt: TracedAttempt | null = null;
  /** The same target is asked once more, on a new socket. */
  #again = false;
  /** The request was changed for this target, and must not be made anew. */
  #unsealing = false;
  /** Milliseconds until the next turn; null while none is waited for. */
  #pause: number | null = null;
  /** How long the caller has heard nothing, in milliseconds. */
  #silence = 0;
  /** Whether the caller asked for a stream; null where nobody wanted to know yet. */
  #streams: boolean | null = null;
  /** For whom room is set aside in the budgets, and why there was none for another. */
  #admitted: Target;
  #noRoom: GatewayError | null = null;

  constructor(context: ProxyContext, prepared: Prepared) {
    this.#context = context;
    const { body: _, ...rest } = prepared;
    this.#prepared = rest;
    this.#admitted = prepared.targets[0];
    this.#call = newCall(context, prepared, {
      ended: (end) => this.#ended(end),
      triedAgain: (error) => this.#triedAgain(error),
      failed: (failure) => this.#onFailure(failure),
      interrupted: (failure, partialAnswer, used) => this.#onBrokeOff(failure, partialAnswer, used),
      heard: (headers) => this.#running?.heard(headers),
      delivers: (at) => this.#delivers(at),
    });
    const { catalog } = prepared.snapshot;
    this.#selector = new TargetSelector({
      targets: prepared.targets,
      retryPolicy: prepared.plan.options,
      accounts: context.accounts,
      contextOf: ({ model, provider }) => catalog.describe(provider, model)?.contextWindow ?? null,
      now: context.now,
    });
  }

  get waits(): boolean {
    return this.#pause !== null;
  }

  describe(): RunningCall {
    const { attempts, codec, exchange, firstByteAt, keyId, requestedModel, target } = this.#call;
    return {
      id: exchange.id,
      startedAt: exchange.startedAt,
      keyId,
      format: codec.format,
      requestedModel: requestedModel.slice(0, 256),
      connection: target.connection.name,
      model: target.model.slice(0, 256),
      attempts,
      state: this.waits ? 'waiting' : firstByteAt === null ? 'asked' : 'answering',
      userAgent: exchange.request.headers['user-agent']?.slice(0, 256) ?? null,
    };
  }

  start(): void {
    const { response } = this.#call.exchange;
    response.on('close', () => this.#onCallerGone());
    if (response.destroyed) {
      // It left while the request was being made ready.
      this.#call.end(callerGone(false));
      return;
    }
    this.#context.watch.add(this);
    this.#nextTurn();
  }

  tick(elapsed: number): void {
    if (this.#pause === null) this.#call.attempt?.tick(elapsed);
    else {
      this.#pause -= elapsed;
      if (this.#pause <= 0) {
        this.#pause = null;
        this.#nextTurn();
      }
    }
    if (!this.#call.ended) this.#keepAlive(elapsed);
  }

  interrupt(error: GatewayError): void {
    this.#call.attempt?.abort();
    if (this.#reader !== null) this.#reader.interrupt(error);
    else if (this.#call.partialAnswer !== null) this.#endUnfinished(error, errorFrame(this.#call, error));
    else answerFailure(this.#call, { error, safeToRetry: false }, null);
  }

  #onCallerGone(): void {
    if (this.#call.ended) return;
    if (this.#reader === null) this.#call.end(callerGone(this.#hasStream));
    else this.#reader.onCallerGone();
    this.#call.attempt?.abort();
  }

  #nextTurn(): void {
    const turn = this.#selector.next();
    switch (turn.do) {
      case 'try':
        this.#move(turn.target);
        return;
      case 'wait':
        this.#pause = turn.ms;
        return;
      case 'stop':
        this.#giveUp();
        return;
    }
  }

  /** A stream that has been silent for too long carries a keep-alive, whoever is asked or waited for meanwhile. */
  #keepAlive(elapsed: number): void {
    const call = this.#call;
    const { caller } = call;
    this.#silence = caller.wrote() ? 0 : this.#silence + elapsed;
    if (this.#silence < this.#context.config.keepAliveMs) return;
    this.#silence = 0;
    if (!caller.takesKeepAlive || this.#reader?.takesKeepAlive() === false) return;
    if (caller.state === 'unopened') {
      this.#streams ??= wantsStream(call);
      if (!this.#streams) return;
    }
    caller.keepAlive(() => openingHeaders(call));
  }

  get #hasStream(): boolean {
    return this.#call.caller.state !== 'unopened';
  }

  /** A target takes what it may use out of the budgets first. One that has no room there is passed over. */
  #move(target: Target): void {
    const { admission } = this.#prepared;
    if (admission === null || target === this.#admitted) {
      this.#begin(target);
      return;
    }
    const refused = admission.moveTo(target);
    if (refused instanceof Promise) void refused.then((error) => this.#moved(target, error));
    else this.#moved(target, refused);
  }

  #moved(target: Target, refused: GatewayError | null): void {
    if (this.#call.ended) return;
    if (refused === null) {
      this.#admitted = target;
      this.#begin(target);
      return;
    }
    this.#noRoom ??= refused;
    this.#prepared.plan.trace.skipped.push(withoutRoom(target, refused));
    this.#nextTurn();
  }

  #begin(target: Target): void {
    const { partialAnswer } = this.#call;
    this.#call.target = (partialAnswer && toGoOn(target, partialAnswer.begun)) ?? target;
    this.#again = false;
    this.#unsealing = false;
    this.#running = this.#context.accounts.begin(target);
    this.#try();
  }

  #try(): void {
    const call = this.#call;
    const context = this.#context;
    call.attempts += 1;
    call.upstreamStatus = null;
    this.#attempt = {
      ...nameOf(call.target),
      startedMs: this.#sinceStart(),
      durationMs: 0,
      status: null,
      outcome: 'aborted',
      error: null,
      effect: null,
      ...(call.partialAnswer === null ? {} : { begunWith: call.partialAnswer.begun.text.length }),
    };
    this.#prepared.plan.trace.attempts.push(this.#attempt);
    try {
      this.#reader = answerReader(context, call, this.#prepared.facts.format, this.#unsealing);
      const request = upstreamRequest(context, call, this.#again);
      call.attempt = new Attempt(request.host, this.#reader, context.config.timeouts);
      call.attempt.start(request);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      call.failed({ error, safeToRetry: false });
    }
  }

  #triedAgain(error: GatewayError): boolean {
    const call = this.#call;
    const { outputCaps, refused } = this.#context;
    if (learnedRefusal(refused, call, error) || learnedCap(outputCaps, call, error)) this.#unsealing = false;
    else if (!this.#unsealing && leaveOutSeals(call, error)) this.#unsealing = true;
    else return false;
    this.#close({ outcome: 'failed', error: tracedError({ error, safeToRetry: false }) });
    this.#try();
    return true;
  }

  #onFailure(failure: Failure): void {
    const call = this.#call;
    if (call.ended) return;
    // One that has reported its failure inside a stream may go on for ever, and nobody watches it any more.
    call.attempt?.abort();
    if (call.exchange.response.destroyed) {
      call.end(callerGone(this.#hasStream));
      return;
    }
    // A form comes only once.
    const once = call.upload?.begun === true;
    if (failure.safeToRetry && !this.#again && !once) {
      this.#close({ outcome: 'failed', error: tracedError(failure) });
      this.#again = true;
      this.#try();
      return;
    }
    this.#reader = null;
    const judgement = this.#judge(failure);
    this.#failed.push({ target: call.target, failure, judgement });
    // What is wrong with a request to go on may be right with another's, or with none.
    if (once || (faults[judgement.kind].next === 'stop' && call.partialAnswer === null)) {
      this.#giveUp();
      return;
    }
    this.#selector.failed(call.target, judgement.kind);
    this.#nextTurn();
  }

  /** The caller has the beginning of an answer: whoever can goes on with it. */
  #onBrokeOff(
    failure: Failure,
    partialAnswer: PartialAnswer,
    used: Pick<CallEnd, 'usage' | 'estimated'>,
  ): void {
    const call = this.#call;
    if (call.ended) return;
    call.attempt?.abort();
    call.priorUsage = totalUsage(call, used);
    call.partialAnswer = partialAnswer;
    if (call.exchange.response.destroyed) {
      call.end(callerGone(true));
      return;
    }
    this.#reader = null;
    const judgement = this.#judge(failure);
    this.#failed.push({ target: call.target, failure, judgement });
    const fits = (other: Target) => toGoOn(other, partialAnswer.begun) !== null;
    const unfit = this.#selector.interrupted(call.target, judgement.kind, fits);
    const detail = 'Its format or its server has no way to go on with an answer that another began';
    const { skipped } = this.#prepared.plan.trace;
    skipped.push(...unfit.map((target) => ({ ...nameOf(target), reason: 'begun' as const, detail })));
    this.#nextTurn();
  }

  #endUnfinished(error: GatewayError, ending: Buffer | null): void {
    this.#call.caller.breakOff(ending);
    this.#call.end({ ...endOfError(error, true), status: 200 });
  }

  /** Tells the account, and the trace, of a turn that failed. */
  #judge(failure: Failure): Judgement {
    const { answer, error } = failure;
    const judgement = this.#running?.failed({
      code: error.code,
      status: error.code === 'upstream_error' ? error.status : null,
      said: answer?.said ?? error.message,
      message: error.message,
      headers: answer?.headers ?? {},
      retryAfter: error.retryAfter,
    });
    this.#running?.closed();
    this.#running = null;
    const { effect = null } = judgement ?? {};
    this.#close({ outcome: 'failed', error: tracedError(failure), effect });
    return judgement ?? { kind: 'request', effect: null, told: null };
  }

  #giveUp(): void {
    const call = this.#call;
    if (call.partialAnswer !== null) {
      this.#endUnfinished(call.partialAnswer.error, call.partialAnswer.ending);
      return;
    }
    const found = mostUseful(this.#failed);
    if (found === null) {
      const error = this.#noRoom ?? this.#selector.refusal();
      answerFailure(call, { error, safeToRetry: false }, null);
      return;
    }
    call.target = found.target;
    // What one of several said of its own limit is no measure for all of them.
    const exhausted = found.judgement.told !== null && this.#selector.exhausted;
    const failure = exhausted ? { error: this.#selector.refusal(), safeToRetry: false } : found.failure;
    answerFailure(call, failure, shortOf(this.#failed));
  }

  #delivers(at: number): void {
    this.#running?.succeeded(at - this.#call.exchange.clock - (this.#attempt?.startedMs ?? 0));
  }

  /** The trace of the attempt under way is complete. */
  #close(how: Pick<TracedAttempt, 'outcome' | 'error'> & Partial<Pick<TracedAttempt, 'effect'>>): void {
    if (this.#attempt === null) return;
    const { startedMs } = this.#attempt;
    const durationMs = this.#sinceStart() - startedMs;
    Object.assign(this.#attempt, { ...how, durationMs, status: this.#call.upstreamStatus });
    this.#attempt = null;
  }

  #ended(end: CallEnd): void {
    this.#context.watch.remove(this);
    const running = this.#running;
    this.#running = null;
    const { error, outcome } = end;
    // An upstream that has failed in the middle may go on for ever, and nobody watches it any more.
    if (outcome === 'failed') this.#call.attempt?.abort();
    if (outcome === 'ok') {
      running?.succeeded(null);
      this.#close({ outcome: 'answered', error: null });
    } else if (outcome === 'failed' && error !== null && running !== null) {
      const effect = brokenOff(running, error);
      this.#close({ outcome: 'failed', error: { ...error, message: error.message.slice(0, 300) }, effect });
    } else this.#close({ outcome: 'aborted', error: null });
    running?.closed();
    const { trace } = this.#prepared.plan;
    trace.skipped.push(...this.#selector.skipped());
  }

  #sinceStart(): number {
    return Math.round(performance.now() - this.#call.exchange.clock);
  }
}

/** An answer that failed after it had begun counts against its account as any other. */
function brokenOff(running: Running, { code, message }: NonNullable<CallEnd['error']>): string | null {
  if (!isErrorCode(code)) return null;
  const status = code === 'upstream_error' ? 502 : null;
  return running.failed({ code, status, said: message, message, headers: {}, retryAfter: null }).effect;
}
