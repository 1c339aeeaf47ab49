import type { Trace } from '../../combos/trace.ts';
import type { LedgerEntry } from '../../ledger/schema.ts';
import type { ResponseMemory } from '../../responses/stored.ts';
import { ledgerEntry, type RunSummary } from '../metering/entry.ts';
import type { RequestEnd } from '../request/end.ts';
import type { LedgerFacts } from '../request/facts.ts';
import type { ResponseToStore } from '../request/outcome.ts';
import { keepAnswer } from '../responses-state/keep.ts';
import type { AttemptedTarget } from './attempted-target.ts';

/** The callbacks for the end of a request. */
export interface FinishContext {
  /**
   * @param trace why the request went where it went; null where it had no target
   * @param origin the request, and who sent it
   */
  record(entry: LedgerEntry, trace: Trace | null, origin: Pick<LedgerFacts, 'exchange' | 'principal'>): void;
  responses: Pick<ResponseMemory, 'put'>;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** A request that is over. */
export interface CompletedRequest {
  readonly facts: LedgerFacts;
  readonly end: RequestEnd;
  /** How its attempts went; null for one that never had a target. */
  readonly run: FinishedRun | null;
  /** For one that was answered from the cache: who had made the answer, which costs nothing now. */
  readonly cached?: Pick<
    LedgerEntry,
    'connection' | 'connectionId' | 'provider' | 'model' | 'finishReason' | 'rawFinishReason'
  >;
}

export interface FinishedRun {
  readonly summary: RunSummary;
  /** The target that was tried last; null where its failure was reported to the account already. */
  readonly attemptedTarget: AttemptedTarget | null;
  /** The answer, where it is one to keep. */
  readonly response: ResponseToStore | null;
  /** Targets that were passed over to the end. */
  readonly skipped: Trace['skipped'];
  /** Called with how it ended, where its answer may be given to others. */
  cache(this: void, end: RequestEnd, summary: RunSummary): void;
}

/**
 * The end of every request: updates its account, its budgets, its stored response, the ledger with the trace, and the
 * cache.
 */
export function finish(
  { now, record, responses }: FinishContext,
  { cached, end, facts, run }: CompletedRequest,
): void {
  if (run === null) {
    const entry = ledgerEntry(facts, end, null, now());
    record(cached === undefined ? entry : { ...entry, ...cached, ...free }, facts.trace, facts);
    return;
  }
  const { attemptedTarget, summary, cache, response, skipped } = run;
  attemptedTarget?.ended(end);
  const { plan, reservation, trace } = summary.facts;
  trace.skipped.push(...skipped);
  if (response !== null) keepAnswer(responses, summary.facts, response);
  if (end.outcome === 'ok') plan.remember(summary.target);
  const entry = ledgerEntry(facts, end, summary, now());
  reservation?.settle(summary.attempts > 0 ? entry : null);
  record(entry, trace, facts);
  cache(end, summary);
}

const free = { costUsd: 0, cacheSavingsUsd: 0, priceSource: 'cache', cached: true } as const;
