import type { ComboOptions } from '../../combos/combo-schema.ts';
import type { Target } from '../../combos/routing/resolve.ts';
import { nameOf } from '../../combos/target.ts';
import type { Skip } from '../../combos/trace.ts';
import type { Accounts, Availability } from '../../health/accounts.ts';
import { faults } from '../../health/faults.ts';
import type { Condition } from '../../health/health-view.ts';
import { GatewayError } from '../../lib/error.ts';
import type { FaultKind } from '../../providers/fault.ts';

/** How far a request goes before it fails. */
export type RetryPolicy = Pick<ComboOptions, 'maxAttempts' | 'maxElapsedMs' | 'waitMs'>;

export type NextStep = { do: 'try'; target: Target } | { do: 'wait'; ms: number } | { do: 'stop' };

export interface TargetSelectorInput {
  /** Best first. */
  targets: readonly [Target, ...Target[]];
  retryPolicy: RetryPolicy;
  accounts: Pick<Accounts, 'availability'>;
  /** Tokens that a target reads; null when that is not known. */
  contextOf(target: Target): number | null;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** A target whose upstream named the time until which it takes nothing. */
type WaitingTarget = Extract<Availability, { may: 'wait' }> & { target: Target };

/** Rounds in all: targets whose failure may pass (`Fault.passing`) are tried again in the next one, after a pause that doubles each time. */
const ROUNDS = 3;
const PAUSE_MS = 250;

/**
 * Says which target a request tries next, in this order: targets whose account is ready; targets whose account the gateway
 * paused by its own guess; if there are several targets, those whose failure may have passed, once more; and if nothing was
 * tried at all, targets whose account needs an operator. A target whose upstream named a time is never tried before it.
 */
export class TargetSelector {
  readonly #input: TargetSelectorInput;
  #startedAt: number;
  /** When the last attempt was begun. */
  #lastAttemptAt = 0;
  #canContinue: (target: Target) => boolean = () => true;
  #remaining: readonly Target[];
  #retryable: Target[] = [];
  #round = 1;
  #paused = false;
  #waitedMs = 0;
  #attempts = 0;
  /** Short: at most one entry for each attempt. */
  readonly #attempted: Target[] = [];

  constructor(input: TargetSelectorInput) {
    this.#input = input;
    this.#startedAt = input.now();
    this.#remaining = input.targets;
  }

  next(): NextStep {
    const { maxAttempts, maxElapsedMs } = this.#input.retryPolicy;
    const elapsed = this.#input.now() - this.#startedAt;
    if (this.#attempts >= maxAttempts || (this.#attempts > 0 && elapsed > maxElapsedMs)) return stop;
    const target = this.#ready() ?? this.#doubtful(['cooling', 'probing']);
    if (target !== null) return this.#take(target);
    if (this.#retryable.length > 0 && this.#round < ROUNDS && this.#input.targets.length > 1)
      return this.#nextRound();
    const lastResort = this.#attempts > 0 ? null : this.#doubtful(['exhausted', 'needs-attention']);
    return lastResort === null ? this.#wait() : this.#take(lastResort);
  }

  /** An attempt at `target` failed, and others may be tried. */
  failed(target: Target, kind: FaultKind): void {
    const { next, passing } = faults[kind];
    // A target that hangs until its deadline must not take the time of those that could answer.
    if (kind === 'timeout') this.#startedAt += this.#input.now() - this.#lastAttemptAt;
    if (passing) this.#retryable.push(target);
    if (next !== 'larger') return;
    const context = this.#input.contextOf(target);
    this.#retryable = [];
    this.#remaining = this.#remaining.filter((other) => {
      const larger = this.#input.contextOf(other);
      return larger !== null && (context === null || larger > context);
    });
  }

  /**
   * An answer of `target` broke off in the middle. Only targets that `canContinue` accepts are tried from now on.
   * @returns the targets that it does not accept
   */
  interrupted(target: Target, kind: FaultKind, canContinue: (target: Target) => boolean): Target[] {
    const remaining = this.#remaining;
    this.#canContinue = canContinue;
    this.#startedAt = this.#input.now();
    this.#remaining = remaining.filter(canContinue);
    this.#retryable = [...this.#retryable, ...(faults[kind].passing ? [target] : [])].filter(canContinue);
    return remaining.filter((other) => !canContinue(other));
  }

  /** The targets that were passed over, and why. */
  skipped(): Skip[] {
    const unattempted = this.#remaining.filter((target) => !this.#attempted.includes(target));
    return unattempted.flatMap((target) => {
      const availability = this.#availabilityOf(target);
      return availability.may === 'go' ? [] : skipOf(target, availability.condition);
    });
  }

  /**
   * Why no target takes the request: all said when to retry. An account on its own has reached its limit (429);
   * several together are what the gateway has no capacity for (503), of which none is named as the one to blame.
   */
  refusal(): GatewayError {
    const { now, targets } = this.#input;
    const waiting = this.#waitingTargets().sort((a, b) => a.until - b.until);
    const [first] = waiting;
    const retryAfter = first === undefined ? 1 : Math.max(1, Math.ceil((first.until - now()) / 1000));
    const limited = waiting.some(({ condition }) => 'reason' in condition && limits.has(condition.reason));
    const names = waiting.slice(0, MAX_NAMED).map(({ condition, target, until }) => {
      const reason = 'reason' in condition ? condition.reason : condition.state;
      return `${target.connection.name} ${reason} until ${new Date(until).toISOString().slice(11, 19)} UTC`;
    });
    const more = waiting.length - names.length;
    const listed = more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ');
    const message = `No account can take this request right now: ${listed}. Try again in ${retryAfter} s`;
    const code = limited && targets.length === 1 ? 'rate_limit_exceeded' : 'upstream_overloaded';
    return new GatewayError(code, message, { retryAfter });
  }

  /** Whether there are several targets, and each has a time that its upstream named. */
  get exhausted(): boolean {
    const { length } = this.#input.targets;
    return length > 1 && this.#waitingTargets().length === length;
  }

  #waitingTargets(): WaitingTarget[] {
    return this.#input.targets.flatMap((target) => {
      const availability = this.#availabilityOf(target);
      return availability.may === 'wait' ? [{ target, ...availability }] : [];
    });
  }

  #ready(): Target | null {
    return this.#remaining.find((target) => this.#availabilityOf(target).may === 'go') ?? null;
  }

  #doubtful(states: readonly string[]): Target | null {
    const canContinue = (target: Target) => {
      const availability = this.#availabilityOf(target);
      return availability.may === 'last' && states.includes(availability.condition.state);
    };
    return this.#remaining.find(canContinue) ?? null;
  }

  #take(target: Target): NextStep {
    this.#attempts += 1;
    this.#lastAttemptAt = this.#input.now();
    this.#attempted.push(target);
    this.#remaining = this.#remaining.filter((other) => other !== target);
    return { do: 'try', target };
  }

  #nextRound(): NextStep {
    if (!this.#paused) {
      this.#paused = true;
      return { do: 'wait', ms: PAUSE_MS * 2 ** (this.#round - 1) };
    }
    this.#paused = false;
    this.#round += 1;
    this.#remaining = [...this.#retryable];
    this.#retryable = [];
    return this.next();
  }

  /** Until the first account is ready again, if that is soon enough. */
  #wait(): NextStep {
    const { now, retryPolicy, targets } = this.#input;
    if (retryPolicy.waitMs === 0) return stop;
    const untils = this.#waitingTargets().map(({ until }) => until);
    const ms = Math.max(1, Math.min(...untils) - now());
    if (!Number.isFinite(ms) || this.#waitedMs + ms > retryPolicy.waitMs) return stop;
    this.#waitedMs += ms;
    this.#remaining = targets.filter(this.#canContinue);
    return { do: 'wait', ms };
  }

  #availabilityOf({ connection, model }: Target): Availability {
    return this.#input.accounts.availability(connection.id, model);
  }
}

const stop: NextStep = { do: 'stop' };
const MAX_NAMED = 10;

/** Reasons for which the clients of a single account get 429: it is about how much they ask. */
const limits: ReadonlySet<string> = new Set([faults['rate-limit'].label, faults.quota.label]);

function skipOf(target: Target, condition: Condition): Skip[] {
  if (condition.state === 'ready') return [];
  const until = 'until' in condition ? `, until ${new Date(condition.until).toISOString()}` : '';
  return [{ ...nameOf(target), reason: condition.state, detail: `${condition.reason}${until}` }];
}
