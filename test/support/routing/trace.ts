import type { Trace, TracedAttempt } from '../../../src/combos/trace.ts';

/** An attempt that a target answered. */
export function madeAttempt(patch: Partial<TracedAttempt> = {}): TracedAttempt {
  return {
    connectionId: 'con_1',
    connection: 'one',
    provider: 'openai',
    model: 'gpt-5',
    startedMs: 0,
    durationMs: 200,
    status: 200,
    outcome: 'answered',
    error: null,
    effect: null,
    ...patch,
  };
}

/** Why a request that went to a model by its own name was routed as it was. */
export function madeTrace(attempts: TracedAttempt[], patch: Partial<Trace> = {}): Trace {
  return {
    requested: 'gpt-5',
    via: [],
    combo: null,
    strategy: null,
    candidates: [],
    skipped: [],
    affinity: null,
    attempts,
    ...patch,
  };
}
