import {
  type Counter,
  createCounter,
  foreignAt,
  type Level,
  levelAt,
  NANO,
  resetsAt,
  stuckAt,
} from './counter.ts';
import { shownAmount } from './reservation.ts';
import type { BudgetRecord } from './schema.ts';

/** A budget as it is shown, with what its counter has at a moment; `counter` null where it is not in force yet. */
export function rowOfBudget(
  budget: BudgetRecord,
  subjectName: string | null,
  counter: Counter | null,
  at: number,
) {
  const counted = counter ?? createCounter(budget);
  const { held, spent: own, unpriced }: Level = levelAt(counted, at);
  const spent = shownAmount(counted, own + foreignAt(counted, at));
  const reserved = shownAmount(counted, held + stuckAt(counted, at));
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
    remaining: Math.max(0, Math.round((budget.limit - spent - reserved) * NANO) / NANO),
    unpriced_requests: unpriced,
    resets_at: end === null ? null : new Date(end).toISOString(),
    soft_percent: budget.softPercent,
    unpriced: budget.unpriced,
    created_at: new Date(budget.createdAt).toISOString(),
    updated_at: new Date(budget.updatedAt).toISOString(),
  };
}
