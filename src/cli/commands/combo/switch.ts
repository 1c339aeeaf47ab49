import { audited } from '../../audit.ts';
import type { Command } from '../../command.ts';
import { storedCombo } from '../../resources/combos.ts';
import { failure } from '../../terminal/failure.ts';

export const comboSwitchCommand: Command = {
  arguments: [{ name: 'combo', names: 'combo', summary: 'name or id of the combo', required: true }],
  flags: [],
  needs: 'store',
  about:
    'The model "auto" means this combo from now on, and its targets come first when a model is requested by its bare id.',
  examples: [{ command: 'gateway combo switch smart', does: 'a running gateway follows at once' }],
  run: async (options, context) => {
    const { combos, record } = await storedCombo(options.argument('combo') ?? '', context);
    const { id, name } = record;
    const entry = { action: 'combos.activate', target: id, input: { name } };
    if (!(await audited(context, entry, () => combos.activate(id))))
      throw failure(1, 'not_found', `The combo "${name}" was removed by someone else meanwhile.`);
    context.io.result({ active: name, id }, () => `"auto" means the combo "${name}".`);
    return 0;
  },
};
