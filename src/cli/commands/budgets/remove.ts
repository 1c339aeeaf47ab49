import { budgetStore } from '../../../budgets/store.ts';
import { audited } from '../../audit.ts';
import type { Command } from '../../command.ts';
import { confirmDestruction } from '../../terminal/confirm.ts';
import { failure } from '../../terminal/failure.ts';

export const budgetsRemoveCommand: Command = {
  arguments: [{ name: 'budget', summary: 'id of the budget', required: true }],
  flags: [{ name: 'yes', short: 'y', summary: 'do not ask' }],
  needs: 'store',
  examples: [{ command: 'gateway budgets remove bud_… --yes', does: 'nothing is limited by it any more' }],
  run: async (options, context) => {
    const { existingStore, io, now } = context;
    const id = options.argument('budget') ?? '';
    const store = await existingStore();
    const budgets = store === null ? null : budgetStore(store, now);
    const record = (await budgets?.find(id)) ?? null;
    const missing = failure(
      1,
      'not_found',
      `There is no budget "${id}": \`gateway budgets list\` shows what there is`,
    );
    if (budgets === null || record === null) throw missing;
    await confirmDestruction(
      `Remove the budget ${record.id} (${record.limit} ${record.metric})?`,
      options,
      io,
    );
    const { limit, metric, scope, subject } = record;
    const entry = { action: 'budgets.delete', target: record.id, before: { limit, metric, scope, subject } };
    if (!(await audited(context, entry, () => budgets.remove(record.id)))) throw missing;
    io.result({ removed: true, id: record.id }, () => `Removed the budget ${record.id}.`);
    return 0;
  },
};
