import type { Target } from '../../combos/routing/resolve.ts';
import type { Trace, TracedAttempt } from '../../combos/trace.ts';
import { faults } from '../../health/faults.ts';
import type { FailureEffect } from '../../health/running.ts';
import type { FaultKind } from '../../providers/fault.ts';
import type { Failure } from '../request/failure.ts';

/** A target whose attempts failed. */
export interface FailedTarget {
  target: Target;
  failure: Failure;
  failureEffect: FailureEffect;
}

/**
 * What a client can do most with: what is wrong with its request, then what is over after a while, then what only the
 * owner of the gateway can mend.
 */
const usefulness: readonly FaultKind[] = [
  'request',
  'context',
  'rate-limit',
  'overloaded',
  'quota',
  'server',
  'timeout',
  'busy',
  'cut',
  'unreachable',
  'protocol',
  'billing',
  'permission',
  'model',
  'path',
  'credential',
  'unusable',
  'untranslatable',
];

/** Of several failures the one that is answered; of equal ones the last. */
export function mostUseful(failed: readonly FailedTarget[]): FailedTarget | null {
  let best: FailedTarget | null = null;
  for (const one of failed) if (best === null || rankOf(one) <= rankOf(best)) best = one;
  return best;
}

function rankOf({ failureEffect }: FailedTarget): number {
  return usefulness.indexOf(failureEffect.kind);
}

/** Names in a message; a combo may have hundreds of targets. */
const MAX_NAMED = 8;

/** `a: 429 rate limit, b: 503 overloaded`; null where only one was tried. Names connections, and nothing that an upstream said. */
export function shortFailures(failed: readonly FailedTarget[]): string | null {
  if (failed.length < 2) return null;
  const named = failed.slice(0, MAX_NAMED).map(({ failure, failureEffect, target }) => {
    const status = failure.answer === undefined ? '' : `${failure.answer.status} `;
    return `${target.connection.name}: ${status}${faults[failureEffect.kind].label}`;
  });
  const more = failed.length - named.length;
  return more > 0 ? `${named.join(', ')} and ${more} more` : named.join(', ');
}

const MAX_MESSAGE = 300;

/** A failure as the trace keeps it. */
export function tracedError({ error }: Failure): NonNullable<TracedAttempt['error']> {
  return { code: error.code, message: error.message.slice(0, MAX_MESSAGE) };
}

/** Candidates, and targets that were passed over, that a trace keeps; a combo may have hundreds. */
const MAX_TRACED = 50;

/**
 * A trace as it is stored, of bounded size. Null for that of a model that was named with its connection, where nothing
 * else could have answered and the first attempt did: the ledger's row says as much (`ledger/traces.ts`), and a second
 * row for each such request would cost as much as the first.
 */
export function traceText(trace: Trace): string | null {
  const { candidates, skipped } = trace;
  if (isPlain(trace)) return null;
  if (candidates.length <= MAX_TRACED && skipped.length <= MAX_TRACED) return JSON.stringify(trace);
  const first = { candidates: candidates.slice(0, MAX_TRACED), skipped: skipped.slice(0, MAX_TRACED) };
  return JSON.stringify({ ...trace, ...first });
}

function isPlain({ attempts, candidates, combo, skipped, via }: Trace): boolean {
  if (candidates.length !== 1 || skipped.length > 0 || combo !== null || via.length !== 1) return false;
  const [attempt] = attempts;
  return attempts.length === 1 && attempt?.outcome === 'answered' && via[0]?.by === 'connection';
}
