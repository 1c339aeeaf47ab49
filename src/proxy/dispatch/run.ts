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
import { budgetSkip } from '../inbound/admit.ts';
import { streamFlag } from '../inbound/wants-stream.ts';
import type { RunSummary } from '../metering/entry.ts';
import { totalUsage } from '../metering/prior-usage.ts';
import { headerTier } from '../metering/served-tier.ts';
import type { UpstreamQuirks } from '../quirks/upstream-quirks.ts';
import type { AnswerUsage, PriorUsage } from '../request/answer-usage.ts';
import { clientGone, endOfError, type RequestEnd } from '../request/end.ts';
import type { RequestFacts } from '../request/facts.ts';
import type { Failure } from '../request/failure.ts';
import type { OpenCall, RunningCall } from '../request/open-call.ts';
import type { AnswerSink, AttemptOutcome, ResponseToStore } from '../request/outcome.ts';
import { type OutgoingRequest, type PartialAnswer, withoutBytes } from '../request/outgoing.ts';
import type { Watch } from '../request/watch.ts';
import { shouldKeep } from '../responses-state/keep.ts';
import { notePlace } from '../responses-state/place.ts';
import { continuationTarget } from '../translate/prefill.ts';
import { Attempt } from '../upstream/attempt.ts';
import { redactedFailure, redactSecrets } from '../upstream/redaction.ts';
import { readyRequest, type UpstreamContext } from '../upstream/request.ts';
import { answerReader } from './answer-reader.ts';
import { type FailedTarget, mostUseful, shortFailures } from './attempt-failures.ts';
import { AttemptedTarget, attemptFailureOf } from './attempted-target.ts';
import { type FinishContext, type FinishedRun, finish } from './finish.ts';
import { namingModel, outgoingRequest, type RequestBody } from './outgoing-request.ts';
import { type Step, step } from './step.ts';
import { TargetSelector } from './target-selector.ts';
import { variantOf } from './variant.ts';

/** What running a request needs of the gateway. */
export interface RunContext extends FinishContext, UpstreamQuirks, UpstreamContext {
  config: Pick<Config, 'keepAliveMs' | 'timeouts'>;
  watch: Watch<OpenCall>;
  accounts: Pick<Accounts, 'availability' | 'begin'>;
  places: Pick<ResponsePlaces, 'note'>;
}

/** A request that may be sent. */
export interface PreparedRequest {
  readonly facts: RequestFacts;
  readonly body: RequestBody;
  /** Of the body, where it is to be freed as soon as no attempt can need it. */
  readonly memory: BodyMemory | null;
  /** Called with how it ended, where its answer may be kept for others. */
  readonly cache?: FinishedRun['cache'];
}

/**
 * Runs a request: one attempt after the other until one answers, no target is left or the client leaves. The only retry
 * loop: an attempt is begun here, its outcome comes back here (`settled`), `step` says what comes of it, and `#end` is the
 * only end.
 */
export function runRequest(context: RunContext, prepared: PreparedRequest): void {
  new Run(context, prepared).start();
}

/** A request on its way. A class, because there is one for every request. */
class Run implements AnswerSink, OpenCall {
  slot = -1;
  readonly #context: RunContext;
  readonly #facts: RequestFacts;
  readonly #client: ClientStream;
  readonly #selector: TargetSelector;
  readonly #cache: FinishedRun['cache'];
  readonly #failedTargets: FailedTarget[] = [];
  /** The client's own bytes; empty once no further target can be tried. */
  #body: RequestBody;
  /** Null once no further attempt can need it. */
  #memory: BodyMemory | null;
  #ended = false;

  /** Who is asked, or was last. */
  #target: Target;
  /** Null where its failure was reported to the account already. */
  #attemptedTarget: AttemptedTarget | null = null;
  /** What it was sent last. */
  #request: OutgoingRequest | null = null;
  /** Null while no attempt is running. */
  #reader: AnswerReader | null = null;
  #attempt: Attempt | null = null;
  #attempts = 0;
  /** The target is asked once more, on a new socket. */
  #freshSocket = false;
  /** The attempt under way has content for the client. */
  #hasContent = false;
  /** The most that a target said it would write for this request. */
  #reportedOutputCap: { target: Target; outputCap: number } | null = null;

  /** The answer that broke off, and what was used for it. */
  #partial: PartialAnswer | null = null;
  #priorUsage: PriorUsage | null = null;
  #failovers = 0;

  /** Of the last answer: its id at the upstream, the tier that it was served in, and why it ended. */
  #upstreamRequestId: string | null = null;
  #servedTier: string | null = null;
  #finishReason: FinishReason | null = null;
  #firstByteAt: number | null = null;

  /** Milliseconds until the next step; null while none is waited for. */
  #pause: number | null = null;
  /** How long nothing was sent to the client, in milliseconds. */
  #silence = 0;
  /** Whether the client asked for a stream; null until it is first needed. */
  #streamRequested: boolean | null = null;
  /** For whom room is set aside in the budgets, and why there was none for another. */
  #reservedTarget: Target;
  #budgetRefusal: GatewayError | null = null;

  constructor(context: RunContext, { body, cache = () => {}, facts, memory }: PreparedRequest) {
    const { catalog, codec, exchange, named, plan, targets } = facts;
    this.#context = context;
    this.#facts = facts;
    this.#body = body;
    this.#memory = memory;
    this.#cache = cache;
    this.#target = targets[0];
    this.#reservedTarget = targets[0];
    this.#client = new ClientStream({
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
    response.on('close', () => this.#onClientGone());
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
    else if (this.#partial !== null) this.#interruptAnswer(error, errorFrame(this.#failureContext, error));
    else this.#answer({ error, safeToRetry: false });
  }

  #onClientGone(): void {
    if (this.#ended) return;
    if (this.#reader === null) this.#end(clientGone(this.#hasStream));
    else this.#reader.onClientGone();
    this.#attempt?.abort();
  }

  #nextStep(): void {
    const step = this.#selector.next();
    switch (step.do) {
      case 'try':
        this.#reserveBudget(step.target);
        return;
      case 'wait':
        this.#pause = step.ms;
        return;
      case 'stop':
        this.#giveUp();
        return;
    }
  }

  /** A stream that has been silent for too long carries a keep-alive, also between attempts. */
  #keepAlive(elapsed: number): void {
    const client = this.#client;
    this.#silence = client.wrote() ? 0 : this.#silence + elapsed;
    if (this.#silence < this.#context.config.keepAliveMs) return;
    this.#silence = 0;
    if (!client.takesKeepAlive || this.#reader?.takesKeepAlive() === false) return;
    if (client.state === 'unopened') {
      this.#streamRequested ??= this.#wantsStream();
      if (!this.#streamRequested) return;
    }
    client.keepAlive(() => openingHeaders(this.#facts));
  }

  /** Whether the client is to get a stream, whatever the target is asked for. */
  #wantsStream(): boolean {
    const { codec, named, responseState } = this.#facts;
    const translation = this.#request?.translation ?? null;
    if (translation !== null) return translation.stream;
    return responseState?.compacts !== true && streamFlag({ body: this.#body.pieces, codec, named });
  }

  get #hasStream(): boolean {
    return this.#client.state !== 'unopened';
  }

  /** A target takes what it may use out of the budgets first. One that has no room there is passed over. */
  #reserveBudget(target: Target): void {
    const { reservation } = this.#facts;
    if (reservation === null || target === this.#reservedTarget) {
      this.#attemptTarget(target);
      return;
    }
    const refused = reservation.moveTo(target);
    if (refused instanceof Promise)
      refused.then(
        (error) => this.#budgetReserved(target, error),
        (error: unknown) => this.#reservationFailed(error),
      );
    else this.#budgetReserved(target, refused);
  }

  /** Whoever counts the budgets did not answer: no target may be asked without it. */
  #reservationFailed(cause: unknown): void {
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

  #budgetReserved(target: Target, refused: GatewayError | null): void {
    if (this.#ended) return;
    if (refused === null) {
      this.#reservedTarget = target;
      this.#attemptTarget(target);
      return;
    }
    this.#budgetRefusal ??= refused;
    this.#facts.trace.skipped.push(budgetSkip(target, refused));
    this.#nextStep();
  }

  #attemptTarget(selected: Target): void {
    const { exchange, trace } = this.#facts;
    const partial = this.#partial;
    const target = (partial && continuationTarget(selected, partial.prefix)) ?? selected;
    this.#target = target;
    this.#freshSocket = false;
    const running = this.#context.accounts.begin(selected);
    this.#attemptedTarget = new AttemptedTarget({ target, running, trace, clock: exchange.clock });
    this.#body = namingModel(this.#facts, this.#body, { target, partial });
    this.#startAttempt((attempt) =>
      outgoingRequest(this.#context, this.#facts, {
        target,
        attempt,
        clientBody: this.#body.pieces,
        partial,
        priorUsage: this.#priorUsage,
        outputCap: this.#reportedOutputCap?.target === target ? this.#reportedOutputCap.outputCap : null,
      }),
    );
  }

  /** One attempt. @param make the request that it sends; counted from 1 */
  #startAttempt(make: (attempt: number) => OutgoingRequest): void {
    this.#attempts += 1;
    this.#hasContent = false;
    this.#attemptedTarget?.begin({ target: this.#target, partial: this.#partial });
    try {
      const outgoing = make(this.#attempts);
      const { request, upstream } = readyRequest(this.#context, this.#facts, outgoing, this.#freshSocket);
      this.#request = request;
      this.#reader = answerReader({
        facts: this.#facts,
        request,
        client: this.#client,
        sink: this,
        redact: redactor(this.#context, request.target),
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
    this.#attemptedTarget?.headReceived(status, headers);
  }

  committed(firstBytes: Buffer | null, isFinal: boolean): boolean {
    const request = this.#request;
    if (request === null) return false;
    if (firstBytes !== null) notePlace(this.#context.places, this.#facts, request, firstBytes);
    if (!this.#hasContent) {
      this.#hasContent = true;
      if (this.#partial !== null) this.#failovers += 1;
      const at = performance.now();
      this.#firstByteAt ??= at;
      this.#attemptedTarget?.contentStarted(at);
    }
    if (!isFinal) return false;
    this.#request = withoutBytes(request);
    this.#body = { ...this.#body, pieces: [] };
    const keepsAnswer = shouldKeep(this.#facts, request);
    if (!keepsAnswer) this.#freeMemory();
    return keepsAnswer;
  }

  #freeMemory(): void {
    this.#memory?.release();
    this.#memory = null;
  }

  settled(attemptOutcome: AttemptOutcome): void {
    if (this.#ended) return;
    const outcome = this.#withVariant(attemptOutcome);
    // One that has reported its failure inside a stream may go on for ever, and no deadline applies to it any more.
    if (outcome.kind !== 'completed') this.#attempt?.abort();
    const { exchange, upload } = this.#facts;
    const failsAnywhere =
      outcome.kind === 'failed' &&
      faults[kindOf(attemptFailureOf(outcome.failure), this.#target.provider)].next === 'stop';
    const state = {
      freshSocket: this.#freshSocket,
      continues: this.#partial !== null,
      bodyConsumed: upload?.isConsumed === true,
      clientGone: exchange.response.destroyed,
    };
    this.#execute(step(state, outcome, failsAnywhere), outcome);
  }

  /** A failure without secrets; one that names what the target does not take, as the request without that. */
  #withVariant(outcome: AttemptOutcome): AttemptOutcome {
    if (outcome.kind !== 'failed' && outcome.kind !== 'interrupted') return outcome;
    const { answer, error } = outcome.failure;
    const request = this.#request;
    const failure = redactedFailure(outcome.failure, redactor(this.#context, this.#target));
    const plain = { ...outcome, failure };
    if (answer === undefined || request === null) return plain;
    try {
      const variant = variantOf(this.#context, this.#facts, request, error);
      return variant === null ? plain : { kind: 'retry-variant', error: failure.error, variant };
    } catch (variantError) {
      if (!(variantError instanceof GatewayError)) throw variantError;
      return { kind: 'failed', failure: { error: variantError, safeToRetry: false } };
    }
  }

  #execute(next: Step, outcome: AttemptOutcome): void {
    switch (next.do) {
      case 'finish':
        this.#finish(outcome);
        return;
      case 'leave':
        if (outcome.kind === 'interrupted') this.#addPriorUsage(outcome.answerUsage);
        this.#end(clientGone(this.#hasStream));
        return;
      case 'send-again':
        this.#freshSocket = true;
        this.#sendNext(outcome, this.#request);
        return;
      case 'send':
        this.#sendNext(outcome, next.request);
        return;
      case 'ask-another':
      case 'give-up':
        this.#targetFailed(outcome, next.do === 'give-up');
        return;
    }
  }

  /** The same target is asked once more. */
  #sendNext(outcome: AttemptOutcome, request: OutgoingRequest | null): void {
    const error = errorOf(outcome);
    if (error === null || request === null) return;
    this.#attemptedTarget?.attemptFailed({ error, safeToRetry: false });
    if (request.outputCap !== null)
      this.#reportedOutputCap = { target: request.target, outputCap: request.outputCap };
    this.#startAttempt((attempt) => ({ ...request, attempt }));
  }

  /** The target has failed: this is reported to its account, and others are tried unless none would do better. */
  #targetFailed(outcome: AttemptOutcome, isLast: boolean): void {
    if (outcome.kind !== 'failed' && outcome.kind !== 'interrupted') return;
    const { failure } = outcome;
    const target = this.#target;
    const failureEffect = this.#attemptedTarget?.failed(failure) ?? noEffect;
    this.#attemptedTarget = null;
    this.#reader = null;
    this.#request = this.#request && withoutBytes(this.#request);
    this.#failedTargets.push({ target, failure, failureEffect });
    if (isLast) {
      this.#giveUp();
      return;
    }
    if (outcome.kind === 'interrupted' && outcome.partial !== null) {
      this.#addPriorUsage(outcome.answerUsage);
      this.#partial = outcome.partial;
      this.#keepContinuable(outcome.partial, failureEffect.kind);
    } else this.#selector.failed(target, failureEffect.kind);
    this.#nextStep();
  }

  /** The client has the beginning of an answer: another target continues it if possible. */
  #keepContinuable({ prefix }: PartialAnswer, kind: FaultKind): void {
    const skippedTargets = this.#selector.interrupted(
      this.#target,
      kind,
      (other) => continuationTarget(other, prefix) !== null,
    );
    const detail = 'Its format or its server cannot continue an answer that another target began';
    const { skipped } = this.#facts.trace;
    skipped.push(
      ...skippedTargets.map((target) => ({ ...nameOf(target), reason: 'begun' as const, detail })),
    );
  }

  #addPriorUsage(answerUsage: AnswerUsage): void {
    this.#priorUsage = totalUsage(this.#facts.price, this.#target, answerUsage, this.#priorUsage);
  }

  #giveUp(): void {
    if (this.#partial !== null) {
      this.#interruptAnswer(this.#partial.error, this.#partial.ending);
      return;
    }
    const best = mostUseful(this.#failedTargets);
    if (best === null) {
      const error = this.#budgetRefusal ?? this.#selector.refusal();
      this.#answer({ error, safeToRetry: false });
      return;
    }
    this.#target = best.target;
    // What one of several said of its own limit is no measure for all of them.
    const exhausted = best.failureEffect.upstreamRetryAt !== null && this.#selector.exhausted;
    const failure = exhausted ? { error: this.#selector.refusal(), safeToRetry: false } : best.failure;
    this.#answer(failure, shortFailures(this.#failedTargets));
  }

  /** The client gets the failure as its answer. */
  #answer(failure: Failure, otherFailures: string | null = null): void {
    const answeredBy = { ...(this.#request ?? emptyRequest), target: this.#target, attempt: this.#attempts };
    this.#end(
      answerFailure({ ...this.#failureContext, client: this.#client, answeredBy }, failure, otherFailures),
    );
  }

  /** An answer that broke off ends there. */
  #interruptAnswer(error: GatewayError, ending: Buffer | null): void {
    this.#client.reset(ending);
    this.#end({ ...endOfError(error, true), status: 200 });
  }

  get #failureContext(): Pick<FailedRequest, 'facts' | 'redact'> {
    return { facts: this.#facts, redact: redactor(this.#context, this.#target) };
  }

  #finish(outcome: AttemptOutcome): void {
    switch (outcome.kind) {
      case 'completed': {
        const { error, response, status, streamed, answerUsage } = outcome;
        this.#servedTier = answerUsage.tier;
        this.#finishReason = outcome.finishReason;
        const how = error === null ? ('ok' as const) : ('failed' as const);
        const { estimated, usage } = answerUsage;
        this.#end({ status, outcome: how, error, streamed, usage, estimated }, response);
        this.#attempt?.closeSoon();
        return;
      }
      case 'interrupted': {
        const { ending, failure, status, streamed, answerUsage } = outcome;
        const { estimated, usage } = answerUsage;
        this.#servedTier = answerUsage.tier;
        this.#client.reset(ending);
        this.#end({ ...endOfError(failure.error, streamed), status, usage, estimated });
        return;
      }
      case 'client-gone': {
        const { estimated, tier, usage } = outcome.answerUsage;
        this.#servedTier = tier ?? this.#servedTier;
        this.#end({ ...clientGone(outcome.streamed), usage, estimated });
        return;
      }
    }
  }

  /** The only end of a request. Later calls do nothing. */
  #end(end: RequestEnd, response: ResponseToStore | null = null): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#context.watch.remove(this);
    // An upstream that has failed in the middle may go on for ever, and no deadline applies to it any more.
    if (end.outcome === 'failed') this.#attempt?.abort();
    finish(this.#context, {
      facts: this.#facts,
      end: this.#withoutSecrets(end),
      run: {
        summary: this.#summary(),
        attemptedTarget: this.#attemptedTarget,
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
    const { redact } = this.#failureContext;
    return { ...end, error: { code, message: redact(message) } };
  }

  #summary(): RunSummary {
    return {
      facts: this.#facts,
      target: this.#target,
      attempts: this.#attempts,
      dropped: this.#request?.dropped ?? [],
      failovers: this.#failovers,
      servedTier: this.#servedTier,
      finishReason: this.#finishReason,
      priorUsage: this.#priorUsage,
      firstByteAt: this.#firstByteAt,
      upstreamRequestId: this.#upstreamRequestId,
    };
  }
}

/** A request before anything was sent. */
const emptyRequest = { dropped: [], translation: null };

const noEffect: FailureEffect = { kind: 'request', effect: null, upstreamRetryAt: null };

function errorOf(outcome: AttemptOutcome): GatewayError | null {
  if (outcome.kind === 'retry-variant') return outcome.error;
  return outcome.kind === 'failed' ? outcome.failure.error : null;
}

function redactor(context: Pick<RunContext, 'tokens'>, { connection }: Target): (text: string) => string {
  return (text) => redactSecrets(context, connection, text);
}
