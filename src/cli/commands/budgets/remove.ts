import { budgetStore } from '../../../budgets/store.ts';
import { budgetUseCases } from '../../../budgets/use-cases.ts';
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
    const record = store === null ? null : await budgetStore(store, now).find(id);
    const missing = failure(
      1,
      'not_found',
      `There is no budget "${id}": \`gateway budgets list\` shows what there is`,
    );
    if (store === null || record === null) throw missing;
    await confirmDestruction(
      `Remove the budget ${record.id} (${record.limit} ${record.metric})?`,
      options,
      io,
    );
    const { limit, metric, scope, subject } = record;
    const entry = { action: 'budgets.delete', target: record.id, before: { limit, metric, scope, subject } };
    await audited(context, entry, () => budgetUseCases(store, now).remove(record.id));
    io.result({ removed: true, id: record.id }, () => `Removed the budget ${record.id}.`);
    return 0;
  },
};
