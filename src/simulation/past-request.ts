import type { Usage } from '../codecs/wire-format.ts';
import { outputTokens } from '../ledger/buckets.ts';
import type { FailedAttempt } from '../ledger/traces.ts';

/** What a replay needs of a request that was made. Times in milliseconds since the epoch, durations in milliseconds. */
export interface PastRequest {
  id: string;
  startedAt: number;
  connectionId: string | null;
  provider: string | null;
  model: string | null;
  format: string;
  status: number;
  outcome: 'ok' | 'failed' | 'aborted';
  usage: Usage | null;
  costUsd: number | null;
  ttftMs: number | null;
  durationMs: number;
  attempts: number;
  /** Attempts that failed by the fault of their targets; null where nothing is kept of them. */
  failedAt: readonly FailedAttempt[] | null;
}

/** Statuses of failures that say something of the account or its provider, and nothing of the request. */
const upstreamFaults: ReadonlySet<number> = new Set([401, 402, 403, 404, 408, 429]);

/** Whether it failed for a reason that another target would not have had. */
export function upstreamFailed({ outcome, status }: Pick<PastRequest, 'outcome' | 'status'>): boolean {
  return outcome === 'failed' && (status >= 500 || upstreamFaults.has(status));
}

/** How long the target took that answered: without the attempts before it. */
export function ownTimes({ durationMs, failedAt, ttftMs }: PastRequest) {
  const lostMs = (failedAt ?? []).reduce((sum, attempt) => sum + attempt.durationMs, 0);
  return {
    durationMs: Math.max(0, durationMs - lostMs),
    ttftMs: ttftMs === null ? null : Math.max(0, ttftMs - lostMs),
  };
}

/** Milliseconds from the first content to the end for each token of output; null where that is unknown. */
export function msPerToken({ durationMs, ttftMs, usage }: PastRequest): number | null {
  if (ttftMs === null || usage === null) return null;
  const tokens = outputTokens(usage);
  return tokens === 0 || durationMs < ttftMs ? null : (durationMs - ttftMs) / tokens;
}
