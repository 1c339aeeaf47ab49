import type { IncomingHttpHeaders } from 'node:http';
import { nameOf, type Target } from '../../combos/target.ts';
import type { Trace, TracedAttempt } from '../../combos/trace.ts';
import type { AttemptFailure, FailureEffect, Running } from '../../health/running.ts';
import { isErrorCode } from '../../lib/error.ts';
import type { RequestEnd } from '../request/end.ts';
import type { Failure } from '../request/failure.ts';
import type { OutgoingRequest } from '../request/outgoing.ts';
import { tracedError } from './attempt-failures.ts';

export interface AttemptedTargetInput {
  readonly target: Target;
  /** The account's view of it. */
  readonly running: Running;
  readonly trace: Pick<Trace, 'attempts'>;
  /** performance.now() of the request's arrival. */
  readonly clock: number;
}

/** A target while it is tried, once or more often: what is reported to its account and the trace. */
export class AttemptedTarget {
  readonly target: Target;
  readonly #running: Running;
  readonly #trace: AttemptedTargetInput['trace'];
  readonly #clock: number;
  /** Null between two attempts. */
  #attempt: TracedAttempt | null = null;
  #status: number | null = null;

  constructor({ clock, running, target, trace }: AttemptedTargetInput) {
    this.target = target;
    this.#running = running;
    this.#trace = trace;
    this.#clock = clock;
  }

  /** An attempt begins. */
  begin({ partial, target }: Pick<OutgoingRequest, 'partial' | 'target'>): void {
    this.#status = null;
    this.#attempt = {
      ...nameOf(target),
      startedMs: this.#sinceStart(),
      durationMs: 0,
      status: null,
      outcome: 'aborted',
      error: null,
      effect: null,
      ...(partial === null ? {} : { begunWith: partial.prefix.text.length }),
    };
    this.#trace.attempts.push(this.#attempt);
  }

  /** The head of an answer came. */
  headReceived(status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#running.headReceived(headers);
  }

  /** Content goes to the client. @param at of the monotonic clock */
  contentStarted(at: number): void {
    this.#running.succeeded(at - this.#clock - (this.#attempt?.startedMs ?? 0));
  }

  /** The attempt failed in a way that says nothing about the account, which is tried once more. */
  attemptFailed(failure: Failure): void {
    this.#close({ outcome: 'failed', error: tracedError(failure) });
  }

  /** It failed, and is asked no more. */
  failed(failure: Failure): FailureEffect {
    const failureEffect = this.#running.failed(attemptFailureOf(failure));
    this.#running.closed();
    this.#close({ outcome: 'failed', error: tracedError(failure), effect: failureEffect.effect });
    return failureEffect;
  }

  /** The request ends with its answer, or in the middle of that. An answer that failed after it had begun counts as any other. */
  ended({ error, outcome }: Pick<RequestEnd, 'error' | 'outcome'>): void {
    if (outcome === 'ok') {
      this.#running.succeeded(null);
      this.#close({ outcome: 'answered', error: null });
    } else if (outcome === 'failed' && error !== null) {
      const effect = isErrorCode(error.code)
        ? this.#running.failed({ ...interruption(error), code: error.code }).effect
        : null;
      this.#close({ outcome: 'failed', error: { ...error, message: error.message.slice(0, 300) }, effect });
    } else this.#close({ outcome: 'aborted', error: null });
    this.#running.closed();
  }

  #close({
    effect = null,
    error,
    outcome,
  }: Pick<TracedAttempt, 'outcome' | 'error'> & Partial<Pick<TracedAttempt, 'effect'>>): void {
    const attempt = this.#attempt;
    if (attempt === null) return;
    attempt.durationMs = this.#sinceStart() - attempt.startedMs;
    attempt.status = this.#status;
    attempt.outcome = outcome;
    attempt.error = error;
    attempt.effect = effect;
    this.#attempt = null;
  }

  #sinceStart(): number {
    return Math.round(performance.now() - this.#clock);
  }
}

/** A failure as it is reported to the account. */
export function attemptFailureOf({ answer, error }: Failure): AttemptFailure {
  return {
    code: error.code,
    status: error.code === 'upstream_error' ? error.status : null,
    errorText: answer?.errorText ?? error.message,
    message: error.message,
    headers: answer?.headers ?? {},
    retryAfter: error.retryAfter,
  };
}

function interruption({ code, message }: NonNullable<RequestEnd['error']>): Omit<AttemptFailure, 'code'> {
  const status = code === 'upstream_error' ? 502 : null;
  return { status, errorText: message, message, headers: {}, retryAfter: null };
}
