import { aliasStore } from '../../../combos/aliases/store.ts';
import { audited } from '../../audit.ts';
import type { Command } from '../../command.ts';
import { confirmDestruction } from '../../terminal/confirm.ts';
import { failure } from '../../terminal/failure.ts';
import { printable } from '../../terminal/text.ts';

export const aliasRemoveCommand: Command = {
  arguments: [{ name: 'alias', names: 'alias', summary: 'name or id of the alias', required: true }],
  flags: [{ name: 'yes', short: 'y', summary: 'do not ask' }],
  needs: 'store',
  examples: [
    { command: 'gateway alias remove gpt-4 --yes', does: 'the name means nothing special any more' },
  ],
  run: async (options, context) => {
    const aliasName = options.argument('alias') ?? '';
    const store = await context.existingStore();
    const aliases = store === null ? null : aliasStore(store);
    const record = (await aliases?.find(aliasName)) ?? null;
    if (aliases === null || record === null) {
      const hint = '`gateway alias list` shows what there is';
      throw failure(1, 'not_found', `There is no alias "${printable(aliasName)}": ${hint}`);
    }
    const { id, name, target } = record;
    await confirmDestruction(`Remove the alias "${name}" (${target})?`, options, context.io);
    const entry = { action: 'aliases.delete', target: id, before: { name, target } };
    if (!(await audited(context, entry, () => aliases.remove(id))))
      throw failure(1, 'not_found', `The alias "${name}" was removed by someone else meanwhile.`);
    context.io.result({ removed: true, id, name }, () => `Removed the alias "${name}".`);
    return 0;
  },
};
