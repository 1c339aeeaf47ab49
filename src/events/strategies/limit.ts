import type { StrategyKind } from '../config/config.ts';

/** What came of a call: `ignored` says nothing about whom it was for, e.g. the event itself was refused. */
export type CallOutcome = 'ok' | 'error' | 'ignored';

/** What a limit gives for one call. Exactly one of its functions is called, once. */
export interface Permit {
  /** @param ms how long the call took; infinite where it ran out of time */
  done(outcome: CallOutcome, ms: number): void;
  /** The call was not made, because another limit refused it. Calls no `onRoom`: who asked knows. */
  cancel(): void;
}

export type LimitAnswer =
  | { readonly kind: 'permit'; readonly permit: Permit }
  | {
      readonly kind: 'refused';
      /** When to ask again, unless the limit calls `onRoom` earlier. */
      readonly retryAfterMs: number;
    };

/** One limit on the calls of one resource. */
export interface Limit {
  readonly kind: StrategyKind;
  ask(): LimitAnswer | Promise<LimitAnswer>;
  status(): LimitStatus;
}

/** Counters since the limit was made. */
export type LimitStatus =
  | {
      readonly kind: 'rate-limit';
      readonly name: string;
      readonly threshold: number;
      readonly periodMs: number;
      /** Calls of this process in the last period. */
      readonly inPeriod: number;
      readonly refused: number;
      readonly scope: LimitScopeStatus;
    }
  | {
      readonly kind: 'circuit-breaker';
      readonly name: string;
      readonly state: BreakerState;
      /** How often it opened. */
      readonly opened: number;
      readonly refused: number;
      /** Calls in the window, and those of them that count against the receiver. */
      readonly calls: number;
      readonly bad: number;
    }
  | {
      readonly kind: 'concurrency-limit';
      readonly name: string;
      readonly max: number;
      /** Calls of this process under way. */
      readonly inFlight: number;
      readonly refused: number;
      readonly scope: LimitScopeStatus;
    };

/** `fallback`: a global limit that this process holds by itself, because the store does not answer. */
export type LimitScopeStatus = 'local' | 'global' | 'fallback';

export type BreakerState = 'closed' | 'open' | 'half-open';
