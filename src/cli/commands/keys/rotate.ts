import { audited } from '../../audit.ts';
import type { Command } from '../../command.ts';
import { keyNotFound, namedKey } from '../../resources/key-input.ts';
import { confirmDestruction } from '../../terminal/confirm.ts';

export const keysRotateCommand: Command = {
  arguments: [{ name: 'key', names: 'key', summary: 'id or name of the key', required: true }],
  flags: [{ name: 'yes', short: 'y', summary: 'do not ask' }],
  needs: 'store',
  about: 'Name, limits and history stay the same. Enter the new key wherever the old one is used.',
  examples: [{ command: 'gateway keys rotate ci --yes', does: 'prints the new key, once' }],
  run: async (options, context) => {
    const { io } = context;
    const { keys, name, row } = await namedKey(options, context);
    await confirmDestruction(`Replace the key "${name}"? The old one stops working at once.`, options, io);
    const key = await audited(context, { action: 'keys.rotate', target: row.id }, () => keys.rotate(row.id));
    if (key === null) throw keyNotFound(name);
    io.result({ rotated: true, id: row.id, name, key }, () => key);
    if (!io.json) io.note(`The key "${name}" has another text. It is shown this once only.`);
    return 0;
  },
};
