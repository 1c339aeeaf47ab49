import type { Command } from '../../command.ts';
import { namedConnection } from '../../setup/connect.ts';
import { removeConnection } from '../../setup/install.ts';
import { confirmDestruction } from '../../terminal/confirm.ts';
import { failure } from '../../terminal/failure.ts';

export const providerRemoveCommand: Command = {
  arguments: [
    { name: 'connection', names: 'connection', summary: 'id or name of the connection', required: true },
  ],
  flags: [{ name: 'yes', short: 'y', summary: 'do not ask' }],
  needs: 'store',
  about:
    'Removes its credential too, and a running gateway sends nothing to it any more. A login is also ended at its server if the server supports that (RFC 7009).',
  examples: [
    { command: 'gateway provider remove work --yes', does: 'combos continue with their other targets' },
  ],
  run: async (options, context) => {
    const { io } = context;
    const record = await namedConnection(options, context);
    await confirmDestruction(`Remove the connection "${record.name}" (${record.provider})?`, options, io);
    if (!(await removeConnection(record, context)))
      throw failure(1, 'not_found', `The connection "${record.name}" was removed by someone else meanwhile.`);
    io.result(
      { removed: true, id: record.id, name: record.name },
      () => `Removed the connection "${record.name}".`,
    );
    return 0;
  },
};
