import {
  type Counter,
  type CounterLevel,
  createCounter,
  lapsedLeases,
  levelAt,
  limitOf,
  remainingAt,
  resetsAt,
  usageElsewhereAt,
} from './counter.ts';
import { displayAmount } from './reservation.ts';
import type { BudgetRecord } from './schema.ts';

/** A budget as it is shown, with what its counter has at a moment; `counter` null where it is not in force yet. */
export function rowOfBudget(
  budget: BudgetRecord,
  subjectName: string | null,
  counter: Counter | null,
  at: number,
) {
  const counted = counter ?? createCounter(budget);
  const { held, spent: own, unpriced }: CounterLevel = levelAt(counted, at);
  const spent = displayAmount(counted, own + usageElsewhereAt(counted, at));
  const reserved = displayAmount(counted, held + lapsedLeases(counted, at));
  const end = resetsAt(counted, at);
  return {
    id: budget.id,
    scope: budget.scope,
    subject: budget.subject,
    subject_name: subjectName,
    metric: budget.metric,
    limit: budget.limit,
    period: budget.period,
    window: counted.window.kind,
    spent,
    reserved,
    remaining: displayAmount(counted, remainingAt(counted, at)),
    ...thresholdsOf(counted, budget.metric === 'concurrency' ? held : own + usageElsewhereAt(counted, at)),
    unpriced_requests: unpriced,
    resets_at: end === null ? null : new Date(end).toISOString(),
    soft_percent: budget.softPercent,
    unpriced: budget.unpriced,
    created_at: new Date(budget.createdAt).toISOString(),
    updated_at: new Date(budget.updatedAt).toISOString(),
  };
}

/** How far a budget is used, and since when that is too far. @param used in the counter's own units */
function thresholdsOf(counter: Counter, used: number) {
  const { budget, reachedAt } = counter;
  const percent = (used / limitOf(counter)) * 100;
  const isSoft = budget.softPercent !== null && percent >= budget.softPercent;
  const isUsedUp = percent >= 100;
  const state: 'ok' | 'soft' | 'used_up' = isUsedUp ? 'used_up' : isSoft ? 'soft' : 'ok';
  return {
    used_percent: Math.round(percent * 10) / 10,
    state,
    soft_reached_at: isSoft ? isoOrNull(reachedAt.soft) : null,
    limit_reached_at: isUsedUp ? isoOrNull(reachedAt.exceeded) : null,
  };
}

function isoOrNull(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
