import type { IncomingHttpHeaders } from 'node:http';
import type { FinishReason } from '../../codecs/model/finish-reason.ts';
import { nameOf, type Target } from '../../combos/target.ts';
import type { Config } from '../../config.ts';
import type { Accounts } from '../../health/accounts.ts';
import { faults, kindOf } from '../../health/faults.ts';
import type { FailureEffect } from '../../health/running.ts';
import type { BodyMemory } from '../../http/body/memory.ts';
import { GatewayError } from '../../lib/error.ts';
import type { FaultKind } from '../../providers/fault.ts';
import type { ResponsePlaces } from '../../responses/places.ts';
import { ClientStream } from '../answer/client-stream.ts';
import { answerFailure, type FailedRequest } from '../answer/failure.ts';
import { openingHeaders } from '../answer/headers.ts';
import type { AnswerReader } from '../answer/reader.ts';
import { errorFrame } from '../answer/stream-ending.ts';
import { withoutRoom } from '../inbound/admit.ts';
import { streamFlag } from '../inbound/wants-stream.ts';
import type { Attempted } from '../metering/entry.ts';
import { totalUsage } from '../metering/prior-usage.ts';
import { headerTier } from '../metering/served-tier.ts';
import type { Learned } from '../quirks/learned.ts';
import { clientGone, endOfError, type RequestEnd } from '../request/end.ts';
import type { RequestFacts } from '../request/facts.ts';
import type { Failure } from '../request/failure.ts';
import type { OpenCall, RunningCall } from '../request/open-call.ts';
import type { AnswerSink, AttemptOutcome, GivenResponse } from '../request/outcome.ts';
import { type OutgoingRequest, type PartialAnswer, withoutBytes } from '../request/outgoing.ts';
import type { PriorUsage, Used } from '../request/use.ts';
import type { Watch } from '../request/watch.ts';
import { isKept } from '../responses-state/keep.ts';
import { notePlace } from '../responses-state/place.ts';
import { continuationTarget } from '../translate/prefill.ts';
import { Attempt } from '../upstream/attempt.ts';
import { redactedFailure, redactSecrets } from '../upstream/redaction.ts';
import { readyRequest, type UpstreamContext } from '../upstream/request.ts';
import { answerReader } from './answer-reader.ts';
import { AskedTarget, failedAttempt } from './asked-target.ts';
import { type FailedTarget, mostUseful, shortFailures } from './attempt-failures.ts';
import { type FinishContext, type FinishedRun, finish } from './finish.ts';
import { namingModel, outgoingRequest, type RequestBody } from './outgoing-request.ts';
import { type Step, step } from './step.ts';
import { TargetSelector } from './target-selector.ts';
import { variantOf } from './variant.ts';

/** What running a request needs of the gateway. */
export interface RunContext extends FinishContext, Learned, UpstreamContext {
  config: Pick<Config, 'keepAliveMs' | 'timeouts'>;
  watch: Watch<OpenCall>;
  accounts: Pick<Accounts, 'availability' | 'begin'>;
  places: Pick<ResponsePlaces, 'note'>;
}

/** A request that may be sent. */
export interface Prepared {
  readonly facts: RequestFacts;
  readonly body: RequestBody;
  /** Of the body, where it is to be freed as soon as no attempt can need it. */
  readonly memory: BodyMemory | null;
  /** Told how it ended, where its answer may be kept for others. */
  readonly cache?: FinishedRun['cache'];
}

/**
 * Runs a request: one attempt after the other until one answers, nobody is left to ask or the caller leaves. The only retry
 * loop: an attempt is begun here, its outcome comes back here (`settled`), `step` says what comes of it, and `#end` is the
 * only end.
 */
export function runRequest(context: RunContext, prepared: Prepared): void {
  new Run(context, prepared).start();
}

/** A request on its way. A class, because there is one for every request. */
class Run implements AnswerSink, OpenCall {
  slot = -1;
  readonly #context: RunContext;
  readonly #facts: RequestFacts;
  readonly #caller: ClientStream;
  readonly #selector: TargetSelector;
  readonly #cache: FinishedRun['cache'];
  readonly #failed: FailedTarget[] = [];
  /** The caller's own bytes; empty once nobody can be asked any more. */
  #body: RequestBody;
  /** Null once no further attempt can need it. */
  #memory: BodyMemory | null;
  #ended = false;

  /** Who is asked, or was last. */
  #target: Target;
  /** Null where its account was told already that it failed. */
  #asked: AskedTarget | null = null;
  /** What it was sent last. */
  #request: OutgoingRequest | null = null;
  /** Null while nobody is asked. */
  #reader: AnswerReader | null = null;
  #attempt: Attempt | null = null;
  #attempts = 0;
  /** The target is asked once more, on a new socket. */
  #again = false;
  /** The attempt under way has content for the caller. */
  #answers = false;
  /** The most that a target said it would write for this request. */
  #told: { target: Target; most: number } | null = null;

  /** The answer that broke off, and what was used for it. */
  #partial: PartialAnswer | null = null;
  #priorUsage: PriorUsage | null = null;
  #continued = 0;

  /** Of the last answer: its id at the upstream, the tier that it was served in, and why it ended. */
  #upstreamRequestId: string | null = null;
  #servedTier: string | null = null;
  #finishReason: FinishReason | null = null;
  #firstByteAt: number | null = null;

  /** Milliseconds until the next step; null while none is waited for. */
  #pause: number | null = null;
  /** How long the caller has heard nothing, in milliseconds. */
  #silence = 0;
  /** Whether the caller asked for a stream; null where nobody wanted to know yet. */
  #streams: boolean | null = null;
  /** For whom room is set aside in the budgets, and why there was none for another. */
  #admitted: Target;
  #noRoom: GatewayError | null = null;

  constructor(context: RunContext, { body, cache = () => {}, facts, memory }: Prepared) {
    const { catalog, codec, exchange, named, plan, targets } = facts;
    this.#context = context;
    this.#facts = facts;
    this.#body = body;
    this.#memory = memory;
    this.#cache = cache;
    this.#target = targets[0];
    this.#admitted = targets[0];
    this.#caller = new ClientStream({
      response: exchange.response,
      codec: codec.stream,
      array: named?.array === true,
      onDrain: () => this.#attempt?.resume(),
    });
    this.#selector = new TargetSelector({
      targets,
      retryPolicy: plan.options,
      accounts: context.accounts,
      contextOf: ({ model, provider }) => catalog.describe(provider, model)?.contextWindow ?? null,
      now: context.now,
    });
  }

  get waits(): boolean {
    return this.#pause !== null;
  }

  describe(): RunningCall {
    const { codec, exchange, principal, requestedModel } = this.#facts;
    return {
      id: exchange.id,
      startedAt: exchange.startedAt,
      keyId: principal.keyId,
      format: codec.format,
      requestedModel: requestedModel.slice(0, 256),
      connection: this.#target.connection.name,
      model: this.#target.model.slice(0, 256),
      attempts: this.#attempts,
      state: this.waits ? 'waiting' : this.#firstByteAt === null ? 'asked' : 'answering',
      userAgent: exchange.request.headers['user-agent']?.slice(0, 256) ?? null,
    };
  }

  start(): void {
    const { response } = this.#facts.exchange;
    response.on('close', () => this.#onCallerGone());
    if (response.destroyed) {
      // It left while the request was being made ready.
      this.#end(clientGone(false));
      return;
    }
    this.#context.watch.add(this);
    this.#nextStep();
  }

  tick(elapsed: number): void {
    if (this.#pause === null) this.#attempt?.tick(elapsed);
    else {
      this.#pause -= elapsed;
      if (this.#pause <= 0) {
        this.#pause = null;
        this.#nextStep();
      }
    }
    if (!this.#ended) this.#keepAlive(elapsed);
  }

  /** The gateway stops. */
  interrupt(error: GatewayError): void {
    this.#attempt?.abort();
    if (this.#reader !== null) this.#reader.interrupt(error);
    else if (this.#partial !== null) this.#breakOff(error, errorFrame(this.#telling, error));
    else this.#answer({ error, safeToRetry: false });
  }

  #onCallerGone(): void {
    if (this.#ended) return;
    if (this.#reader === null) this.#end(clientGone(this.#hasStream));
    else this.#reader.onCallerGone();
    this.#attempt?.abort();
  }

  #nextStep(): void {
    const step = this.#selector.next();
    switch (step.do) {
      case 'try':
        this.#move(step.target);
        return;
      case 'wait':
        this.#pause = step.ms;
        return;
      case 'stop':
        this.#giveUp();
        return;
    }
  }

  /** A stream that has been silent for too long carries a keep-alive, whoever is asked or waited for meanwhile. */
  #keepAlive(elapsed: number): void {
    const caller = this.#caller;
    this.#silence = caller.wrote() ? 0 : this.#silence + elapsed;
    if (this.#silence < this.#context.config.keepAliveMs) return;
    this.#silence = 0;
    if (!caller.takesKeepAlive || this.#reader?.takesKeepAlive() === false) return;
    if (caller.state === 'unopened') {
      this.#streams ??= this.#wantsStream();
      if (!this.#streams) return;
    }
    caller.keepAlive(() => openingHeaders(this.#facts));
  }

  /** Whether the caller is to get a stream, whatever the target is asked for. */
  #wantsStream(): boolean {
    const { codec, named, responseState } = this.#facts;
    const translation = this.#request?.translation ?? null;
    if (translation !== null) return translation.stream;
    return responseState?.compacts !== true && streamFlag({ body: this.#body.pieces, codec, named });
  }

  get #hasStream(): boolean {
    return this.#caller.state !== 'unopened';
  }

  /** A target takes what it may use out of the budgets first. One that has no room there is passed over. */
  #move(target: Target): void {
    const { reservation } = this.#facts;
    if (reservation === null || target === this.#admitted) {
      this.#ask(target);
      return;
    }
    const refused = reservation.moveTo(target);
    if (refused instanceof Promise)
      refused.then(
        (error) => this.#moved(target, error),
        (error: unknown) => this.#cannotMove(error),
      );
    else this.#moved(target, refused);
  }

  /** Whoever counts the budgets did not answer: no target may be asked without it. */
  #cannotMove(cause: unknown): void {
    if (this.#ended) return;
    if (this.#partial !== null) {
      this.#giveUp();
      return;
    }
    const message = 'The gateway failed to find out whether the budgets have room for another target';
    const error =
      cause instanceof GatewayError ? cause : new GatewayError('internal_error', message, { cause });
    this.#answer({ error, safeToRetry: false });
  }

  #moved(target: Target, refused: GatewayError | null): void {
    if (this.#ended) return;
    if (refused === null) {
      this.#admitted = target;
      this.#ask(target);
      return;
    }
    this.#noRoom ??= refused;
    this.#facts.trace.skipped.push(withoutRoom(target, refused));
    this.#nextStep();
  }

  #ask(chosen: Target): void {
    const { exchange, trace } = this.#facts;
    const partial = this.#partial;
    const target = (partial && continuationTarget(chosen, partial.begun)) ?? chosen;
    this.#target = target;
    this.#again = false;
    const running = this.#context.accounts.begin(chosen);
    this.#asked = new AskedTarget({ target, running, trace, clock: exchange.clock });
    this.#body = namingModel(this.#facts, this.#body, { target, partial });
    this.#try((attempt) =>
      outgoingRequest(this.#context, this.#facts, {
        target,
        attempt,
        asked: this.#body.pieces,
        partial,
        priorUsage: this.#priorUsage,
        most: this.#told?.target === target ? this.#told.most : null,
      }),
    );
  }

  /** One attempt. @param make the request that it sends; counted from 1 */
  #try(make: (attempt: number) => OutgoingRequest): void {
    this.#attempts += 1;
    this.#answers = false;
    this.#asked?.begin({ target: this.#target, partial: this.#partial });
    try {
      const made = make(this.#attempts);
      const { request, upstream } = readyRequest(this.#context, this.#facts, made, this.#again);
      this.#request = request;
      this.#reader = answerReader({
        facts: this.#facts,
        request,
        caller: this.#caller,
        sink: this,
        redact: redacting(this.#context, request.target),
      });
      this.#attempt = new Attempt(upstream.host, this.#reader, this.#context.config.timeouts, this.#memory);
      this.#attempt.start(upstream);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      this.settled({ kind: 'failed', failure: { error, safeToRetry: false } });
    }
  }

  head(status: number, headers: IncomingHttpHeaders): void {
    const id = headers['request-id'] ?? headers['x-request-id'];
    if (typeof id === 'string') this.#upstreamRequestId = id;
    this.#servedTier = headerTier(headers);
    this.#asked?.heard(status, headers);
  }

  committed(began: Buffer | null, isFinal: boolean): boolean {
    const request = this.#request;
    if (request === null) return false;
    if (began !== null) notePlace(this.#context.places, this.#facts, request, began);
    if (!this.#answers) {
      this.#answers = true;
      if (this.#partial !== null) this.#continued += 1;
      const at = performance.now();
      this.#firstByteAt ??= at;
      this.#asked?.answers(at);
    }
    if (!isFinal) return false;
    this.#request = withoutBytes(request);
    this.#body = { ...this.#body, pieces: [] };
    const kept = isKept(this.#facts, request);
    if (!kept) this.#freeMemory();
    return kept;
  }

  #freeMemory(): void {
    this.#memory?.release();
    this.#memory = null;
  }

  settled(found: AttemptOutcome): void {
    if (this.#ended) return;
    const outcome = this.#withVariant(found);
    // One that has reported its failure inside a stream may go on for ever, and nobody watches it any more.
    if (outcome.kind !== 'completed') this.#attempt?.abort();
    const { exchange, upload } = this.#facts;
    const failsAnywhere =
      outcome.kind === 'failed' &&
      faults[kindOf(failedAttempt(outcome.failure), this.#target.provider)].next === 'stop';
    const state = {
      again: this.#again,
      continues: this.#partial !== null,
      sentOnce: upload?.begun === true,
      clientGone: exchange.response.destroyed,
    };
    this.#do(step(state, outcome, failsAnywhere), outcome);
  }

  /** A failure without secrets; one that names what the target does not take, as the request without that. */
  #withVariant(outcome: AttemptOutcome): AttemptOutcome {
    if (outcome.kind !== 'failed' && outcome.kind !== 'interrupted') return outcome;
    const { answer, error } = outcome.failure;
    const request = this.#request;
    const failure = redactedFailure(outcome.failure, redacting(this.#context, this.#target));
    const plain = { ...outcome, failure };
    if (answer === undefined || request === null) return plain;
    try {
      const variant = variantOf(this.#context, this.#facts, request, error);
      return variant === null ? plain : { kind: 'retry-variant', error: failure.error, variant };
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown;
      return { kind: 'failed', failure: { error: thrown, safeToRetry: false } };
    }
  }

  #do(next: Step, outcome: AttemptOutcome): void {
    switch (next.do) {
      case 'finish':
        this.#finish(outcome);
        return;
      case 'leave':
        if (outcome.kind === 'interrupted') this.#countPart(outcome.used);
        this.#end(clientGone(this.#hasStream));
        return;
      case 'send-again':
        this.#again = true;
        this.#sendNext(outcome, this.#request);
        return;
      case 'send':
        this.#sendNext(outcome, next.request);
        return;
      case 'ask-another':
      case 'give-up':
        this.#passOver(outcome, next.do === 'give-up');
        return;
    }
  }

  /** The same target is asked once more. */
  #sendNext(outcome: AttemptOutcome, request: OutgoingRequest | null): void {
    const error = errorOf(outcome);
    if (error === null || request === null) return;
    this.#asked?.failedOnce({ error, safeToRetry: false });
    if (request.most !== null) this.#told = { target: request.target, most: request.most };
    this.#try((attempt) => ({ ...request, attempt }));
  }

  /** The target has failed: its account is told, and others are asked unless none would do better. */
  #passOver(outcome: AttemptOutcome, isLast: boolean): void {
    if (outcome.kind !== 'failed' && outcome.kind !== 'interrupted') return;
    const { failure } = outcome;
    const target = this.#target;
    const judgement = this.#asked?.failed(failure) ?? unknown;
    this.#asked = null;
    this.#reader = null;
    this.#request = this.#request && withoutBytes(this.#request);
    this.#failed.push({ target, failure, judgement });
    if (isLast) {
      this.#giveUp();
      return;
    }
    if (outcome.kind === 'interrupted' && outcome.partial !== null) {
      this.#countPart(outcome.used);
      this.#partial = outcome.partial;
      this.#keepThoseThatGoOn(outcome.partial, judgement.kind);
    } else this.#selector.failed(target, judgement.kind);
    this.#nextStep();
  }

  /** The caller has the beginning of an answer: whoever can goes on with it. */
  #keepThoseThatGoOn({ begun }: PartialAnswer, kind: FaultKind): void {
    const unfit = this.#selector.interrupted(
      this.#target,
      kind,
      (other) => continuationTarget(other, begun) !== null,
    );
    const detail = 'Its format or its server has no way to go on with an answer that another began';
    const { skipped } = this.#facts.trace;
    skipped.push(...unfit.map((target) => ({ ...nameOf(target), reason: 'begun' as const, detail })));
  }

  #countPart(used: Used): void {
    this.#priorUsage = totalUsage(this.#facts.price, this.#target, used, this.#priorUsage);
  }

  #giveUp(): void {
    if (this.#partial !== null) {
      this.#breakOff(this.#partial.error, this.#partial.ending);
      return;
    }
    const found = mostUseful(this.#failed);
    if (found === null) {
      const error = this.#noRoom ?? this.#selector.refusal();
      this.#answer({ error, safeToRetry: false });
      return;
    }
    this.#target = found.target;
    // What one of several said of its own limit is no measure for all of them.
    const exhausted = found.judgement.upstreamRetryAt !== null && this.#selector.exhausted;
    const failure = exhausted ? { error: this.#selector.refusal(), safeToRetry: false } : found.failure;
    this.#answer(failure, shortFailures(this.#failed));
  }

  /** The caller gets the failure as its answer. */
  #answer(failure: Failure, tried: string | null = null): void {
    const by = { ...(this.#request ?? notSent), target: this.#target, attempt: this.#attempts };
    this.#end(answerFailure({ ...this.#telling, caller: this.#caller, by }, failure, tried));
  }

  /** An answer that broke off ends there. */
  #breakOff(error: GatewayError, ending: Buffer | null): void {
    this.#caller.breakOff(ending);
    this.#end({ ...endOfError(error, true), status: 200 });
  }

  get #telling(): Pick<FailedRequest, 'facts' | 'redact'> {
    return { facts: this.#facts, redact: redacting(this.#context, this.#target) };
  }

  #finish(outcome: AttemptOutcome): void {
    switch (outcome.kind) {
      case 'completed': {
        const { error, response, status, streamed, used } = outcome;
        this.#servedTier = used.tier;
        this.#finishReason = outcome.finishReason;
        const how = error === null ? ('ok' as const) : ('failed' as const);
        const { estimated, usage } = used;
        this.#end({ status, outcome: how, error, streamed, usage, estimated }, response);
        this.#attempt?.closeSoon();
        return;
      }
      case 'interrupted': {
        const { ending, failure, status, streamed, used } = outcome;
        const { estimated, usage } = used;
        this.#servedTier = used.tier;
        this.#caller.breakOff(ending);
        this.#end({ ...endOfError(failure.error, streamed), status, usage, estimated });
        return;
      }
      case 'client-gone': {
        const { estimated, tier, usage } = outcome.used;
        this.#servedTier = tier ?? this.#servedTier;
        this.#end({ ...clientGone(outcome.streamed), usage, estimated });
        return;
      }
    }
  }

  /** The only end of a request. Later calls do nothing. */
  #end(end: RequestEnd, response: GivenResponse | null = null): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#context.watch.remove(this);
    // An upstream that has failed in the middle may go on for ever, and nobody watches it any more.
    if (end.outcome === 'failed') this.#attempt?.abort();
    finish(this.#context, {
      facts: this.#facts,
      end: this.#withoutSecrets(end),
      run: {
        attempted: this.#attempted(),
        asked: this.#asked,
        response,
        skipped: this.#selector.skipped(),
        cache: this.#cache,
      },
    });
    this.#freeMemory();
  }

  #withoutSecrets(end: RequestEnd): RequestEnd {
    if (end.error === null) return end;
    const { code, message } = end.error;
    const { redact } = this.#telling;
    return { ...end, error: { code, message: redact(message) } };
  }

  #attempted(): Attempted {
    return {
      facts: this.#facts,
      target: this.#target,
      attempts: this.#attempts,
      dropped: this.#request?.dropped ?? [],
      continued: this.#continued,
      servedTier: this.#servedTier,
      finishReason: this.#finishReason,
      priorUsage: this.#priorUsage,
      firstByteAt: this.#firstByteAt,
      upstreamRequestId: this.#upstreamRequestId,
    };
  }
}

/** A request before anything was sent. */
const notSent = { dropped: [], translation: null };

const unknown: FailureEffect = { kind: 'request', effect: null, upstreamRetryAt: null };

function errorOf(outcome: AttemptOutcome): GatewayError | null {
  if (outcome.kind === 'retry-variant') return outcome.error;
  return outcome.kind === 'failed' ? outcome.failure.error : null;
}

function redacting(context: Pick<RunContext, 'tokens'>, { connection }: Target): (text: string) => string {
  return (text) => redactSecrets(context, connection, text);
}
