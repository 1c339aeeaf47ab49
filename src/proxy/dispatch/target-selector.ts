import type { Target } from '../../combos/resolve.ts';
import type { ComboOptions } from '../../combos/schema.ts';
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
type Wait = Extract<Availability, { may: 'wait' }> & { target: Target };

/** How often targets that failed in passing are gone through again, and the pause before the first time, doubled each time. */
const ROUNDS = 3;
const PAUSE_MS = 250;

/**
 * Says which target a call tries next. Targets whose account is ready come first; then those of which it is only
 * guessed that they would fail; then, where there are several, once more those that failed in passing; and where
 * nothing was tried, even those whose owner has to act. Only a time that the upstream itself named is always kept.
 */
export class TargetSelector {
  readonly #input: TargetSelectorInput;
  #startedAt: number;
  /** When the last attempt was begun. */
  #triedAt = 0;
  #fits: (target: Target) => boolean = () => true;
  #left: readonly Target[];
  #again: Target[] = [];
  #round = 1;
  #paused = false;
  #waitedMs = 0;
  #attempts = 0;
  /** A few: as many as there may be attempts. */
  readonly #tried: Target[] = [];

  constructor(input: TargetSelectorInput) {
    this.#input = input;
    this.#startedAt = input.now();
    this.#left = input.targets;
  }

  next(): NextStep {
    const { maxAttempts, maxElapsedMs } = this.#input.retryPolicy;
    const elapsed = this.#input.now() - this.#startedAt;
    if (this.#attempts >= maxAttempts || (this.#attempts > 0 && elapsed > maxElapsedMs)) return stop;
    const target = this.#ready() ?? this.#guessed(['cooling', 'probing']);
    if (target !== null) return this.#take(target);
    if (this.#again.length > 0 && this.#round < ROUNDS && this.#input.targets.length > 1)
      return this.#nextRound();
    const hopeless = this.#attempts > 0 ? null : this.#guessed(['exhausted', 'needs-attention']);
    return hopeless === null ? this.#wait() : this.#take(hopeless);
  }

  /** An attempt at `target` failed, and others may be tried. */
  failed(target: Target, kind: FaultKind): void {
    const { next, passing } = faults[kind];
    // A target that hangs until its deadline must not take the time of those that could answer.
    if (kind === 'timeout') this.#startedAt += this.#input.now() - this.#triedAt;
    if (passing) this.#again.push(target);
    if (next !== 'larger') return;
    const context = this.#input.contextOf(target);
    this.#again = [];
    this.#left = this.#left.filter((other) => {
      const larger = this.#input.contextOf(other);
      return larger !== null && (context === null || larger > context);
    });
  }

  /**
   * An answer of `target` broke off in the middle, and only others that `fits` takes can go on with it.
   * @returns those that cannot
   */
  interrupted(target: Target, kind: FaultKind, fits: (target: Target) => boolean): Target[] {
    const left = this.#left;
    this.#fits = fits;
    this.#startedAt = this.#input.now();
    this.#left = left.filter(fits);
    this.#again = [...this.#again, ...(faults[kind].passing ? [target] : [])].filter(fits);
    return left.filter((other) => !fits(other));
  }

  /** The targets that were passed over, and why. */
  skipped(): Skip[] {
    const untried = this.#left.filter((target) => !this.#tried.includes(target));
    return untried.flatMap((target) => {
      const admission = this.#admission(target);
      return admission.may === 'go' ? [] : skipOf(target, admission.condition);
    });
  }

  /**
   * Why nobody takes the request: everybody said when to come back. An account on its own has reached its limit (429);
   * several together are what the gateway has no capacity for (503), of which none is named as the one to blame.
   */
  refusal(): GatewayError {
    const { now, targets } = this.#input;
    const waits = this.#waits().sort((a, b) => a.until - b.until);
    const [first] = waits;
    const retryAfter = first === undefined ? 1 : Math.max(1, Math.ceil((first.until - now()) / 1000));
    const limited = waits.some(({ condition }) => 'reason' in condition && limits.has(condition.reason));
    const names = waits.slice(0, MAX_NAMED).map(({ condition, target, until }) => {
      const reason = 'reason' in condition ? condition.reason : condition.state;
      return `${target.connection.name} ${reason} until ${new Date(until).toISOString().slice(11, 19)} UTC`;
    });
    const more = waits.length - names.length;
    const listed = more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ');
    const message = `No account takes this request just now: ${listed}. Try again in ${retryAfter} s`;
    const code = limited && targets.length === 1 ? 'rate_limit_exceeded' : 'upstream_overloaded';
    return new GatewayError(code, message, { retryAfter });
  }

  /** Whether there are several targets, and each has a time that its upstream named. */
  get exhausted(): boolean {
    const { length } = this.#input.targets;
    return length > 1 && this.#waits().length === length;
  }

  #waits(): Wait[] {
    return this.#input.targets.flatMap((target) => {
      const admission = this.#admission(target);
      return admission.may === 'wait' ? [{ target, ...admission }] : [];
    });
  }

  #ready(): Target | null {
    return this.#left.find((target) => this.#admission(target).may === 'go') ?? null;
  }

  #guessed(states: readonly string[]): Target | null {
    const fits = (target: Target) => {
      const admission = this.#admission(target);
      return admission.may === 'last' && states.includes(admission.condition.state);
    };
    return this.#left.find(fits) ?? null;
  }

  #take(target: Target): NextStep {
    this.#attempts += 1;
    this.#triedAt = this.#input.now();
    this.#tried.push(target);
    this.#left = this.#left.filter((other) => other !== target);
    return { do: 'try', target };
  }

  #nextRound(): NextStep {
    if (!this.#paused) {
      this.#paused = true;
      return { do: 'wait', ms: PAUSE_MS * 2 ** (this.#round - 1) };
    }
    this.#paused = false;
    this.#round += 1;
    this.#left = [...this.#again];
    this.#again = [];
    return this.next();
  }

  /** Until the first account is ready again, if that is soon enough. */
  #wait(): NextStep {
    const { now, retryPolicy, targets } = this.#input;
    if (retryPolicy.waitMs === 0) return stop;
    const untils = this.#waits().map(({ until }) => until);
    const ms = Math.max(1, Math.min(...untils) - now());
    if (!Number.isFinite(ms) || this.#waitedMs + ms > retryPolicy.waitMs) return stop;
    this.#waitedMs += ms;
    this.#left = targets.filter(this.#fits);
    return { do: 'wait', ms };
  }

  #admission({ connection, model }: Target): Availability {
    return this.#input.accounts.availability(connection.id, model);
  }
}

const stop: NextStep = { do: 'stop' };
const MAX_NAMED = 10;

/** Reasons for which a lone account’s clients are told 429: it is about how much they ask. */
const limits: ReadonlySet<string> = new Set([faults['rate-limit'].says, faults.quota.says]);

function skipOf(target: Target, condition: Condition): Skip[] {
  if (condition.state === 'ready') return [];
  const until = 'until' in condition ? `, until ${new Date(condition.until).toISOString()}` : '';
  return [{ ...nameOf(target), reason: condition.state, detail: `${condition.reason}${until}` }];
}
