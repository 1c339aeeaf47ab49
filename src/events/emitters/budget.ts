import type { BudgetEvent } from '../../budgets/reservation.ts';
import type { Emitter } from '../types/emitter.ts';

/** Tells that a budget has reached its warning threshold, or is used up. */
export function emitBudget(emitter: Emitter, { budget, kind, subject, used }: BudgetEvent): void {
  emitter.emit(kind === 'soft' ? 'budget.threshold' : 'budget.exceeded', {
    subject: budget.id,
    data: {
      budget_id: budget.id,
      scope: budget.scope,
      subject_id: budget.subject,
      subject_name: subject,
      metric: budget.metric,
      period: budget.period,
      limit: budget.limit,
      used,
      percent: Math.round((used / budget.limit) * 1_000) / 10,
    },
  });
}
