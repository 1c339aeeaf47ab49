import type { Command } from '../../command.ts';
import { type BudgetRow, listBudgets, subjectText } from '../../resources/budgets.ts';
import { localTime } from '../../terminal/text.ts';

export const budgetsListCommand: Command = {
  arguments: [],
  flags: [],
  needs: 'store',
  about: 'Usage comes from the running gateway, or else from the ledger.',
  examples: [{ command: 'gateway budgets list', does: 'each with what is used of it and when it resets' }],
  run: async (_, context) => {
    const budgets = await listBudgets(context);
    context.io.result({ budgets }, () => {
      if (budgets.length === 0) return 'No budgets yet: set one with `gateway budgets set`.';
      return context.io.table<BudgetRow>(
        [
          { title: 'OF', cell: subjectText },
          {
            title: 'LIMIT',
            cell: (row) => `${row.limit} ${row.metric}${row.period === null ? '' : ` per ${row.period}`}`,
          },
          { title: 'USED', cell: used },
          {
            title: 'PERCENT',
            cell: (row) => `${row.used_percent} %`,
            style: ({ state }) => (state === 'ok' ? null : state === 'soft' ? 'yellow' : 'red'),
          },
          { title: 'RESERVED', cell: (row) => amount(row.reserved) },
          {
            title: 'LEFT',
            cell: (row) => amount(row.remaining),
            style: (row) => (row.remaining === 0 ? 'red' : null),
          },
          {
            title: 'RESETS',
            cell: (row) => localTime(row.resets_at === null ? null : Date.parse(row.resets_at)),
          },
          { title: 'ID', cell: (row) => row.id },
        ],
        budgets,
      );
    });
    return 0;
  },
};

/** What is used as far as that is known. */
function used({ metric, spent, unpriced_requests: unpriced }: BudgetRow): string {
  if (metric !== 'usd' || unpriced === 0) return amount(spent);
  return spent === 0 ? `unknown (${unpriced} unpriced)` : `${amount(spent)} + ${unpriced} unpriced`;
}

/** USD to a hundredth of a cent; counts as they are. */
function amount(value: number): string {
  return String(Number(value.toFixed(4)));
}
