import { audited } from '../../audit.ts';
import type { Command } from '../../command.ts';
import { clearable, keyChangeOf, keyFlags, namedKey } from '../../resources/key-input.ts';

export const keysEditCommand: Command = {
  arguments: [{ name: 'key', names: 'key', summary: 'id or name of the key', required: true }],
  flags: [
    { name: 'name', value: 'NAME', summary: 'another name' },
    ...keyFlags,
    { name: 'remove-label', value: 'NAME', kind: 'list', summary: 'remove a label; may be repeated' },
    {
      name: 'clear',
      value: 'LIMIT',
      kind: 'list',
      choices: Object.keys(clearable),
      summary: 'remove a limit, the owner or the team; may be repeated',
    },
  ],
  needs: 'store',
  about: 'The key itself stays the same. Changes only what you name by a flag.',
  examples: [
    { command: 'gateway keys edit ci --budget-usd 20 --expires 2027-06-30', does: 'more money, more time' },
    { command: 'gateway keys edit ci --team core --label env=ci', does: 'another team, one more label' },
    { command: 'gateway keys edit ci --clear models --clear rpm', does: 'every model, at any pace' },
  ],
  run: async (options, context) => {
    const { limited, row } = await namedKey(options, context);
    const change = keyChangeOf(options, row);
    const before = Object.fromEntries(Object.keys(change).map((field) => [field, row[field]]));
    const entry = { action: 'keys.update', target: row.id, input: change, before };
    const changed = await audited(context, entry, () => limited.update(row, change));
    context.io.result(changed, () => `Changed the key "${String(changed['name'])}".`);
    return 0;
  },
};
