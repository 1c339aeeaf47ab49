import type { IncomingHttpHeaders } from 'node:http';
import type { FaultKind } from '../providers/fault.ts';
import {
  type AccountState,
  type Asked,
  fingerprintOf,
  makeRoom,
  noteLimits,
  type StoredHealthState,
} from './account.ts';
import { type Effect, type FailedAttempt, faults, kindOf } from './faults.ts';
import { type HealthEvent, type HealthState, next, type Penalty } from './health-state.ts';
import { type Limit, limitsIn, tellsLimits } from './limits.ts';
import { peak } from './load.ts';
import { toldUntil } from './wait.ts';

/** A failed attempt with all that its answer said about waiting. */
export interface Failed extends FailedAttempt {
  message: string;
  headers: IncomingHttpHeaders;
  /** Seconds that the body named. */
  retryAfter: number | null;
}

export interface Judgement {
  kind: FaultKind;
  /** What it did to the account: `cooling until 12:00:03 (rate limit)`; null for nothing. */
  effect: string | null;
  /** Until when the upstream itself said that it will not answer; null when it did not. */
  told: number | null;
}

/** One attempt, from its beginning to its end. */
export interface Running {
  /** The head of the answer came. */
  heard(headers: IncomingHttpHeaders): void;
  /** The first content came, so many milliseconds after the beginning; null where that cannot be told. */
  succeeded(ms: number | null): void;
  failed(failed: Failed): Judgement;
  /** It is over, whatever was said of it before. Later calls do nothing. */
  closed(): void;
}

/** Limits change with every answer; so often are they read. */
const LIMITS_MS = 200;
/** What ends later than this is no pause of a rate limit but a quota. */
const QUOTA_MS = 15 * 60_000;

interface RunningInput {
  now(): number;
  changed(kept: StoredHealthState): void;
  limitsRead(connectionId: string, limits: readonly Limit[]): void;
  account: AccountState;
  asked: Asked;
}

/** A class, because there is one for every request. */
export class RunningAttempt implements Running {
  readonly #input: RunningInput;
  readonly #begunAt: number;
  #limits: readonly Limit[] = [];
  #told = false;
  #closed = false;

  constructor(input: RunningInput) {
    this.#input = input;
    this.#begunAt = input.now();
    input.account.load.begin(this.#begunAt);
    this.#happened({ type: 'begun' }, this.#begunAt);
  }

  heard(headers: IncomingHttpHeaders): void {
    if (!tellsLimits(headers)) return;
    const { account, asked, now } = this.#input;
    const at = now();
    // A refusal may come of a limit that was not told of before.
    if (at >= account.limitsReadAt && at - account.limitsReadAt < LIMITS_MS) return;
    account.limitsReadAt = at;
    this.#noteLimits(limitsIn(headers, asked.provider.limitsPerModel === true ? asked.model : null, at));
  }

  succeeded(ms: number | null): void {
    if (this.#told) return;
    this.#told = true;
    const { account, asked, now } = this.#input;
    const at = now();
    this.#happened({ type: 'succeeded', begunAt: this.#begunAt }, at);
    if (ms === null) return;
    const before = account.latencies.get(asked.model) ?? null;
    if (before === null) makeRoom(account.latencies);
    account.latencies.set(asked.model, peak(before, ms, at));
  }

  failed(failed: Failed): Judgement {
    const { account, asked, changed, now } = this.#input;
    const at = now();
    this.#told = true;
    const kind = this.#kindOf(failed, at);
    const { effect, says } = faults[kind];
    if (effect.to === 'none') {
      this.#happened({ type: 'told-nothing', begunAt: this.#begunAt }, at);
      return { kind, effect: null, told: null };
    }
    const told = this.#toldUntil(failed, at);
    const penalty = verdictOf(effect, says, told);
    const event = { type: 'failed', begunAt: this.#begunAt, penalty: penalty } as const;
    const perModel =
      effect.scope === 'model' || (effect.scope === 'limited' && asked.provider.limitsPerModel);
    const model = perModel === true ? asked.model : null;
    // For the other of the two it tells nothing, and ends a probe of it.
    const nothing = { type: 'told-nothing', begunAt: this.#begunAt } as const;
    if (model !== null) {
      if (account.own !== null) this.#happenedTo(null, nothing, at);
      if (!account.models.has(model)) makeRoom(account.models, (gone) => changed(gone(account.id)));
    } else if (account.models.has(asked.model)) this.#happenedTo(asked.model, nothing, at);
    if (effect.to === 'needs-attention') account.fingerprint = fingerprintOf(asked.connection);
    this.#happenedTo(model, event, at);
    return {
      kind,
      effect: shownEffect(model === null ? account.own : (account.models.get(model) ?? null)),
      told,
    };
  }

  closed(): void {
    if (this.#closed) return;
    this.#closed = true;
    const { account, now } = this.#input;
    account.load.end();
    if (!this.#told) this.#happened({ type: 'told-nothing', begunAt: this.#begunAt }, now());
  }

  /** A refusal by a limit that is whole again only much later is no pause, whatever it is called. */
  #kindOf(failed: Failed, now: number): FaultKind {
    const { asked } = this.#input;
    const kind = kindOf(failed, asked.provider);
    if (kind !== 'rate-limit') return kind;
    const model = asked.provider.limitsPerModel === true ? asked.model : null;
    this.#limits = limitsIn(failed.headers, model, now);
    this.#noteLimits(this.#limits);
    const reset = this.#resetOfSpent();
    return reset !== null && reset - now > QUOTA_MS ? 'quota' : kind;
  }

  #toldUntil({ headers, message, retryAfter }: Failed, now: number): number | null {
    const reset = this.#resetOfSpent();
    const told = toldUntil(headers, message, retryAfter, now);
    return told === null || reset === null
      ? (told ?? reset)
      : Math.max(told, reset - now > QUOTA_MS ? reset : 0);
  }

  /** When the last of the limits that are used up is whole again. */
  #resetOfSpent(): number | null {
    const resets = this.#limits.flatMap(({ left, resetAt }) =>
      left === 0 && resetAt !== null ? resetAt : [],
    );
    return resets.length === 0 ? null : Math.max(...resets);
  }

  #noteLimits(limits: readonly Limit[]): void {
    const { account, limitsRead } = this.#input;
    noteLimits(account, limits);
    if (limits.length > 0) limitsRead(account.id, limits);
  }

  /** To the account and to the model: an answer speaks for both. */
  #happened(event: HealthEvent, at: number): void {
    const { account, asked } = this.#input;
    if (account.own !== null) this.#happenedTo(null, event, at);
    if (account.models.size > 0 && account.models.has(asked.model)) this.#happenedTo(asked.model, event, at);
  }

  #happenedTo(model: string | null, event: HealthEvent, at: number): void {
    const { account, changed } = this.#input;
    const before = model === null ? account.own : (account.models.get(model) ?? null);
    const healthState = next(before, event, at);
    if (healthState === before) return;
    if (model === null) account.own = healthState;
    else if (healthState === null) account.models.delete(model);
    else account.models.set(model, healthState);
    const fingerprint = model === null ? account.fingerprint : null;
    changed({ connectionId: account.id, model, healthState, fingerprint });
  }
}

function verdictOf(effect: Exclude<Effect, { to: 'none' }>, reason: string, told: number | null): Penalty {
  if (effect.to === 'needs-attention')
    return { to: effect.to, reason, baseMs: 0, capMs: 0, upstreamRetryAt: null };
  const { baseMs, capMs, to } = effect;
  return { to, reason, baseMs, capMs, upstreamRetryAt: told };
}

function shownEffect(healthState: HealthState | null): string | null {
  if (healthState === null) return null;
  const until =
    'until' in healthState ? ` until ${new Date(healthState.until).toISOString().slice(11, 19)}` : '';
  return `${healthState.state}${until} (${healthState.reason})`;
}
