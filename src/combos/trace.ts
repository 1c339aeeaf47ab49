import type { Condition } from '../health/health-view.ts';

/** How a requested model id was understood. */
export type ResolvedBy =
  | 'alias'
  | 'combo'
  | 'active-combo'
  | 'connection'
  | 'provider'
  | 'listed'
  | 'catalog'
  | 'claude-prefix';

/** Why a target was not tried. */
export type SkipReason =
  /** Its connection or combo is gone or disabled. */
  | 'unavailable'
  | 'format'
  | 'key'
  | 'tools'
  | 'images'
  | 'context'
  | 'budget'
  | 'limit'
  /** It cannot continue an answer that another target began. */
  | 'begun'
  | Exclude<Condition['state'], 'ready'>;

/** One model at one connection, by its names. */
export interface TargetName {
  connectionId: string;
  connection: string;
  provider: string;
  model: string;
}

export interface Skip extends TargetName {
  reason: SkipReason;
  /** One sentence for the owner; no secret in it. */
  detail: string;
}

export interface TracedAttempt extends TargetName {
  /** Milliseconds since the request came. */
  startedMs: number;
  durationMs: number;
  /** HTTP status of the upstream; null when none came. */
  status: number | null;
  outcome: 'answered' | 'failed' | 'aborted';
  /** How many characters of the answer were there when it was asked to go on; absent when it was to begin. */
  begunWith?: number;
  /** Error code and message of a failed one. */
  error: { code: string; message: string } | null;
  /** What the failure did to the account: `cooling until 12:00:03 (rate limit)`; null for nothing. */
  effect: string | null;
}

/** Why a request went where it went, in the order in which it was decided. */
export interface Trace {
  requested: string;
  /** The names between the requested one and its targets: an alias's target, combos within combos. */
  via: readonly { by: ResolvedBy; name: string }[];
  combo: string | null;
  strategy: string | null;
  /** In the order in which they would be tried. */
  candidates: readonly TargetName[];
  skipped: Skip[];
  /** The target that an earlier request of the same session used, when it was preferred for that. */
  affinity: TargetName | null;
  attempts: TracedAttempt[];
}
