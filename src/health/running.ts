import type { IncomingHttpHeaders } from 'node:http';
import type { FaultKind } from '../providers/fault.ts';
import {
  type AccountState,
  type AttemptTarget,
  evictOldest,
  fingerprintOf,
  noteLimits,
  type StoredHealthState,
} from './account.ts';
import { type Effect, type FailedAttempt, faults, kindOf } from './faults.ts';
import { type HealthEvent, type HealthState, next, type Penalty } from './health-state.ts';
import { hasRateLimitHeaders, parseRateLimits, type RateLimitStatus } from './limits.ts';
import { peak } from './load.ts';
import { retryAt } from './wait.ts';

/** A failed attempt with all that its answer said about waiting. */
export interface AttemptFailure extends FailedAttempt {
  message: string;
  headers: IncomingHttpHeaders;
  /** Seconds that the body named. */
  retryAfter: number | null;
}

export interface FailureEffect {
  kind: FaultKind;
  /** What it did to the account: `cooling until 12:00:03 (rate limit)`; null for nothing. */
  effect: string | null;
  /** Until when the upstream itself said that it will not answer; null when it did not. */
  upstreamRetryAt: number | null;
}

/** One attempt, from its beginning to its end. */
export interface Running {
  /** The head of the answer came. */
  headReceived(headers: IncomingHttpHeaders): void;
  /** The first content came, so many milliseconds after the beginning; null where that is unknown. */
  succeeded(ms: number | null): void;
  failed(failed: AttemptFailure): FailureEffect;
  /** It is over, whatever was said of it before. Later calls do nothing. */
  closed(): void;
}

/** Limits change with every answer; so often are they read. */
const LIMITS_MS = 200;
/** What ends later than this is no pause of a rate limit but a quota. */
const QUOTA_MS = 15 * 60_000;

interface RunningInput {
  now(): number;
  onChange(stored: StoredHealthState): void;
  onLimits(connectionId: string, limits: readonly RateLimitStatus[]): void;
  account: AccountState;
  target: AttemptTarget;
}

/** A class, because there is one for every request. */
export class HealthAttempt implements Running {
  readonly #input: RunningInput;
  readonly #begunAt: number;
  #limits: readonly RateLimitStatus[] = [];
  #reported = false;
  #closed = false;

  constructor(input: RunningInput) {
    this.#input = input;
    this.#begunAt = input.now();
    input.account.load.begin(this.#begunAt);
    this.#happened({ type: 'begun' }, this.#begunAt);
  }

  headReceived(headers: IncomingHttpHeaders): void {
    if (!hasRateLimitHeaders(headers)) return;
    const { account, target, now } = this.#input;
    const at = now();
    // A refusal may come from a limit that was not reported before.
    if (at >= account.limitsReadAt && at - account.limitsReadAt < LIMITS_MS) return;
    account.limitsReadAt = at;
    this.#noteLimits(
      parseRateLimits(headers, target.provider.limitsPerModel === true ? target.model : null, at),
    );
  }

  succeeded(ms: number | null): void {
    if (this.#reported) return;
    this.#reported = true;
    const { account, target, now } = this.#input;
    const at = now();
    this.#happened({ type: 'succeeded', begunAt: this.#begunAt }, at);
    if (ms === null) return;
    const before = account.latencies.get(target.model) ?? null;
    if (before === null) evictOldest(account.latencies);
    account.latencies.set(target.model, peak(before, ms, at));
  }

  failed(failed: AttemptFailure): FailureEffect {
    const { account, target, onChange, now } = this.#input;
    const at = now();
    this.#reported = true;
    const kind = this.#kindOf(failed, at);
    const { effect, label } = faults[kind];
    if (effect.to === 'none') {
      this.#happened({ type: 'inconclusive', begunAt: this.#begunAt }, at);
      return { kind, effect: null, upstreamRetryAt: null };
    }
    const upstreamRetryAt = this.#retryAt(failed, at);
    const penalty = penaltyOf(effect, label, upstreamRetryAt);
    const event = { type: 'failed', begunAt: this.#begunAt, penalty } as const;
    const perModel =
      effect.scope === 'model' || (effect.scope === 'limited' && target.provider.limitsPerModel);
    const model = perModel === true ? target.model : null;
    // For the other of the two it shows nothing, and ends a probe of it.
    const inconclusive = { type: 'inconclusive', begunAt: this.#begunAt } as const;
    if (model !== null) {
      if (account.own !== null) this.#happenedTo(null, inconclusive, at);
      if (!account.models.has(model)) evictOldest(account.models, (rowOf) => onChange(rowOf(account.id)));
    } else if (account.models.has(target.model)) this.#happenedTo(target.model, inconclusive, at);
    if (effect.to === 'needs-attention') account.fingerprint = fingerprintOf(target.connection);
    this.#happenedTo(model, event, at);
    return {
      kind,
      effect: shownEffect(model === null ? account.own : (account.models.get(model) ?? null)),
      upstreamRetryAt,
    };
  }

  closed(): void {
    if (this.#closed) return;
    this.#closed = true;
    const { account, now } = this.#input;
    account.load.end();
    if (!this.#reported) this.#happened({ type: 'inconclusive', begunAt: this.#begunAt }, now());
  }

  /** A refusal by a limit that is whole again only much later is no pause, whatever it is called. */
  #kindOf(failed: AttemptFailure, now: number): FaultKind {
    const { target } = this.#input;
    const kind = kindOf(failed, target.provider);
    if (kind !== 'rate-limit') return kind;
    const model = target.provider.limitsPerModel === true ? target.model : null;
    this.#limits = parseRateLimits(failed.headers, model, now);
    this.#noteLimits(this.#limits);
    const reset = this.#resetOfSpent();
    return reset !== null && reset - now > QUOTA_MS ? 'quota' : kind;
  }

  #retryAt({ headers, message, retryAfter }: AttemptFailure, now: number): number | null {
    const reset = this.#resetOfSpent();
    const named = retryAt(headers, message, retryAfter, now);
    return named === null || reset === null
      ? (named ?? reset)
      : Math.max(named, reset - now > QUOTA_MS ? reset : 0);
  }

  /** When the last of the limits that are used up is whole again. */
  #resetOfSpent(): number | null {
    const resets = this.#limits.flatMap(({ left, resetAt }) =>
      left === 0 && resetAt !== null ? resetAt : [],
    );
    return resets.length === 0 ? null : Math.max(...resets);
  }

  #noteLimits(limits: readonly RateLimitStatus[]): void {
    const { account, onLimits } = this.#input;
    noteLimits(account, limits);
    if (limits.length > 0) onLimits(account.id, limits);
  }

  /** To the account and to the model: an answer speaks for both. */
  #happened(event: HealthEvent, at: number): void {
    const { account, target } = this.#input;
    if (account.own !== null) this.#happenedTo(null, event, at);
    if (account.models.size > 0 && account.models.has(target.model))
      this.#happenedTo(target.model, event, at);
  }

  #happenedTo(model: string | null, event: HealthEvent, at: number): void {
    const { account, onChange } = this.#input;
    const before = model === null ? account.own : (account.models.get(model) ?? null);
    const healthState = next(before, event, at);
    if (healthState === before) return;
    if (model === null) account.own = healthState;
    else if (healthState === null) account.models.delete(model);
    else account.models.set(model, healthState);
    const fingerprint = model === null ? account.fingerprint : null;
    onChange({ connectionId: account.id, model, healthState, fingerprint });
  }
}

function penaltyOf(
  effect: Exclude<Effect, { to: 'none' }>,
  reason: string,
  upstreamRetryAt: number | null,
): Penalty {
  if (effect.to === 'needs-attention')
    return { to: effect.to, reason, baseMs: 0, capMs: 0, upstreamRetryAt: null };
  const { baseMs, capMs, to } = effect;
  return { to, reason, baseMs, capMs, upstreamRetryAt };
}

function shownEffect(healthState: HealthState | null): string | null {
  if (healthState === null) return null;
  const until =
    'until' in healthState ? ` until ${new Date(healthState.until).toISOString().slice(11, 19)}` : '';
  return `${healthState.state}${until} (${healthState.reason})`;
}
