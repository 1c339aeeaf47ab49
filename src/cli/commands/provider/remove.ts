import { loggingOut, logoutMessage } from '../../../connections/accounts/logout.ts';
import { audited } from '../../audit.ts';
import type { Command } from '../../command.ts';
import { connections, namedConnection } from '../../setup/connect.ts';
import { confirmDestruction } from '../../terminal/confirm.ts';
import { failure } from '../../terminal/failure.ts';

export const providerRemoveCommand: Command = {
  arguments: [
    { name: 'connection', names: 'connection', summary: 'id or name of the connection', required: true },
  ],
  flags: [{ name: 'yes', short: 'y', summary: 'do not ask' }],
  needs: 'store',
  about:
    'Its credential is gone with it, and a running gateway sends nothing there any more. A login is ended at its server as well, where that can be asked (RFC 7009).',
  examples: [
    { command: 'gateway provider remove work --yes', does: 'combos go on with their other targets' },
  ],
  run: async (options, context) => {
    const { io } = context;
    const record = await namedConnection(options, context);
    await confirmDestruction(`Remove the connection "${record.name}" (${record.provider})?`, options, io);
    const stored = loggingOut(await connections(context), (left) => io.note(logoutMessage(left)));
    const entry = { action: 'connections.delete', target: record.id, before: { name: record.name } };
    if (!(await audited(context, entry, () => stored.remove(record.id))))
      throw failure(1, 'not_found', `The connection "${record.name}" was removed by someone else meanwhile.`);
    io.result(
      { removed: true, id: record.id, name: record.name },
      () => `Removed the connection "${record.name}".`,
    );
    return 0;
  },
};
