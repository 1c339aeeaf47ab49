import { logOut, logoutMessage } from '../../../connections/accounts/logout.ts';
import { rowOfConnection } from '../../../connections/connection-row.ts';
import { grantStore } from '../../../connections/credentials/grants.ts';
import { audited } from '../../audit.ts';
import type { Command } from '../../command.ts';
import { connections } from '../../setup/connect.ts';
import { loginTargetOf } from '../../setup/login.ts';
import { failure } from '../../terminal/failure.ts';

export const providerLogoutCommand: Command = {
  arguments: [
    { name: 'connection', names: 'connection', summary: 'id or name of the connection', required: true },
  ],
  flags: [],
  needs: 'store',
  about:
    'For connections that were added with --auth oauth. Ends the login here, and at its server if the server supports that (RFC 7009). The connection stays.',
  examples: [{ command: 'gateway provider logout work', does: 'end the login, until the next login' }],
  run: async (options, context) => {
    const target = await loginTargetOf(options.argument('connection') ?? '', context);
    const grants = grantStore(await context.store(), (await context.sealingKey()).key);
    const ended = await audited(context, { action: 'connections.logout', target: target.id }, async () => {
      const done = await logOut(grants, target);
      if (done !== null) return done;
      throw failure(1, 'conflict', `There is no login for the connection "${target.name}"`);
    });
    const record = await (await connections(context)).find(target.id);
    if (record === null)
      throw failure(1, 'not_found', `The connection "${target.name}" was removed in the meantime.`);
    const row = { ...rowOfConnection(record), revoked: ended.leftAlive === null };
    if (ended.leftAlive !== null) context.io.note(logoutMessage(ended));
    context.io.result(row, () =>
      ended.leftAlive === null ? `${logoutMessage(ended)}.` : 'Logged out here.',
    );
    return 0;
  },
};
