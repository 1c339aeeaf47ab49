import { audited } from '../../audit.ts';
import type { Command } from '../../command.ts';
import { keyNotFound, namedKey } from '../../resources/key-input.ts';
import { confirmDestruction } from '../../terminal/confirm.ts';

export const keysRemoveCommand: Command = {
  arguments: [{ name: 'key', names: 'key', summary: 'id or name of the key', required: true }],
  flags: [{ name: 'yes', short: 'y', summary: 'do not ask' }],
  needs: 'store',
  examples: [
    { command: 'gateway keys remove laptop --yes', does: 'requests with that key get 401 from now on' },
  ],
  run: async (options, context) => {
    const { io } = context;
    const { keys, name, row } = await namedKey(options, context);
    await confirmDestruction(`Remove the key "${name}" (${String(row['prefix'])})?`, options, io);
    const entry = { action: 'keys.delete', target: row.id, before: { name } };
    if (!(await audited(context, entry, () => keys.remove(row.id)))) throw keyNotFound(name);
    io.result({ removed: true, id: row.id, name }, () => `Removed the key "${name}".`);
    return 0;
  },
};
