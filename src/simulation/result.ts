import type { z } from 'zod';
import type { StrategyName } from '../combos/combo-schema.ts';
import type { Replay, ReplayOutcome } from './replay.ts';
import type { simulationResult } from './schema.ts';

interface About {
  strategy: StrategyName;
  /** Milliseconds since the epoch. */
  since: number;
  /** Whether there may be more requests than were read. */
  truncated: boolean;
}

/** A replay as the management API and the command line show it. */
export function resultOf(
  { since, strategy, truncated }: About,
  { actual, leftOut, simulated, targets, unchanged }: Replay,
): z.infer<typeof simulationResult> {
  return {
    strategy,
    since: new Date(since).toISOString(),
    requests: actual.requests,
    left_out: leftOut,
    unchanged,
    truncated,
    actual: outcomeOf(actual),
    simulated: outcomeOf(simulated),
    targets: targets.map((share) => ({
      connection: share.connection,
      provider: share.provider,
      model: share.model,
      requests: share.requests,
      cost_usd: share.costUsd,
      failure_rate: share.failureRate,
      based_on: share.basedOn,
    })),
  };
}

function outcomeOf(outcome: ReplayOutcome) {
  return {
    failed: outcome.failed,
    fallbacks: outcome.fallbacks,
    cost_usd: outcome.costUsd,
    unpriced: outcome.unpriced,
    p50_ms: outcome.p50Ms,
    p95_ms: outcome.p95Ms,
    ttft_p50_ms: outcome.ttftP50Ms,
    untimed: outcome.untimed,
  };
}
