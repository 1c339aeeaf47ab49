import { audited } from '../../audit.ts';
import type { Command } from '../../command.ts';
import { storedCombo } from '../../resources/combos.ts';
import { confirmDestruction } from '../../terminal/confirm.ts';
import { failure } from '../../terminal/failure.ts';

export const comboDeleteCommand: Command = {
  arguments: [{ name: 'combo', names: 'combo', summary: 'name or id of the combo', required: true }],
  flags: [{ name: 'yes', short: 'y', summary: 'do not ask' }],
  needs: 'store',
  examples: [{ command: 'gateway combo delete fast --yes', does: 'requests for it get 404 from now on' }],
  run: async (options, context) => {
    const { combos, record } = await storedCombo(options.argument('combo') ?? '', context);
    const { active, id, name } = record;
    const activeHint = active ? ', which "auto" means,' : '';
    await confirmDestruction(`Delete the combo "${name}"${activeHint} for good?`, options, context.io);
    const entry = { action: 'combos.delete', target: id, before: { name } };
    if (!(await audited(context, entry, () => combos.remove(id))))
      throw failure(1, 'not_found', `The combo "${name}" was removed by someone else meanwhile.`);
    context.io.result({ removed: true, id, name }, () => `Deleted the combo "${name}".`);
    return 0;
  },
};
