import { keyStore } from '../../access/store.ts';
import { audited } from '../audit.ts';
import type { Command } from '../command.ts';
import { confirmDestruction } from '../terminal/confirm.ts';
import { failure } from '../terminal/failure.ts';

export const keysRemoveCommand: Command = {
  arguments: [{ name: 'key', summary: 'id or name of the key', required: true }],
  flags: [{ name: 'yes', short: 'y', summary: 'do not ask' }],
  needs: 'store',
  examples: [
    { command: 'gateway keys remove laptop --yes', does: 'whoever uses that key gets 401 from now on' },
  ],
  run: async (options, context) => {
    const { io, existingStore } = context;
    const selector = options.argument('key') ?? '';
    const store = await existingStore();
    const keys = store === null ? null : keyStore(store);
    const record = (await keys?.find(selector)) ?? null;
    if (keys === null || record === null) {
      throw failure(
        1,
        'not_found',
        `There is no key "${selector}": \`gateway keys list\` shows what there is`,
      );
    }
    await confirmDestruction(`Remove the key "${record.name}" (${record.prefix})?`, options, io);
    const entry = { action: 'keys.delete', target: record.id, before: { name: record.name } };
    if (!(await audited(context, entry, () => keys.remove(record.id)))) {
      throw failure(1, 'not_found', `The key "${record.name}" was removed by someone else meanwhile.`);
    }
    io.result({ removed: true, id: record.id, name: record.name }, () => `Removed the key "${record.name}".`);
    return 0;
  },
};
