import { rowOfBudget } from '../../budgets/budget-row.ts';
import type { BudgetState } from '../../budgets/limits.ts';
import type { MetricFamily } from './family.ts';

/**
 * Budgets and limits as they stand at `at`, in milliseconds since the epoch. Amounts are in USD, tokens or requests, as
 * the label `metric` says.
 */
export function budgetMetrics(budgets: readonly BudgetState[], at: number): MetricFamily[] {
  const rows = budgets.map(({ counter, subjectName }) =>
    rowOfBudget(counter.budget, subjectName, counter, at),
  );
  type Row = (typeof rows)[number];
  const labelsOf = ({ id, metric, period, scope, subject_name }: Row) => ({
    budget: id,
    scope,
    subject: subject_name ?? '',
    metric,
    period: period ?? '',
  });
  const family = (name: string, help: string, value: (row: Row) => number | null): MetricFamily => ({
    name: `modelgate_budget_${name}`,
    type: 'gauge',
    help,
    points: rows.flatMap((row) => {
      const number = value(row);
      return number === null ? [] : [{ labels: labelsOf(row), value: number }];
    }),
  });
  return [
    family('limit', 'The limit of a budget', ({ limit }) => limit),
    family('spent', 'What is used of a budget in its window', ({ spent }) => spent),
    family(
      'reserved',
      'What is set aside for requests that are not answered yet',
      ({ reserved }) => reserved,
    ),
    family(
      'reset_timestamp_seconds',
      'When the window of a budget ends, in seconds since the epoch',
      (row) => (row.resets_at === null ? null : Date.parse(row.resets_at) / 1000),
    ),
  ];
}
