import { rowOfConnection } from '../../../connections/connection-row.ts';
import { grantStore } from '../../../connections/credentials/grants.ts';
import { saveGrant } from '../../../connections/oauth/logins.ts';
import { audited } from '../../audit.ts';
import type { Command } from '../../command.ts';
import { connections } from '../../setup/connect.ts';
import { logInByBrowser, logInByCode, loginTargetOf } from '../../setup/login.ts';
import { failure, usageError } from '../../terminal/failure.ts';

const TIMEOUT_SECONDS = 600;

export const providerLoginCommand: Command = {
  arguments: [
    { name: 'connection', names: 'connection', summary: 'id or name of the connection', required: true },
  ],
  flags: [
    {
      name: 'device',
      summary: 'show a code to type on any device, instead of an address for a browser here',
    },
    {
      name: 'callback-port',
      value: 'N',
      kind: 'count',
      summary: 'port of 127.0.0.1 to which the browser comes back (default: any that is free)',
    },
    {
      name: 'timeout',
      value: 'SECONDS',
      kind: 'count',
      summary: 'seconds to wait for the login (default 600)',
    },
  ],
  needs: 'store',
  about:
    'For connections that were added with --auth oauth. Opens no browser: the address is printed on stderr. A running gateway uses the new login at once.',
  examples: [
    { command: 'gateway provider login work', does: 'log in with a browser on this machine' },
    { command: 'gateway provider login work --device', does: 'log in from another device, e.g. over ssh' },
  ],
  run: async (options, context) => {
    const target = await loginTargetOf(options.argument('connection') ?? '', context);
    const { io, now } = context;
    const port = options.count('callback-port') ?? 0;
    if (port > 65_535) throw usageError('--callback-port is a port up to 65535');
    const timeoutMs = (options.count('timeout') ?? TIMEOUT_SECONDS) * 1000;
    const by = options.on('device')
      ? logInByCode(target, { io, now, timeoutMs })
      : logInByBrowser(target, port, { io, now, timeoutMs });
    const grant = await by;
    const grants = grantStore(await context.store(), (await context.usableKey()).key);
    await audited(context, { action: 'connections.login', target: target.id }, () =>
      saveGrant(grants, target, grant),
    );
    const record = await (await connections(context)).find(target.id);
    if (record === null)
      throw failure(1, 'not_found', `The connection "${target.name}" was removed in the meantime.`);
    io.result(rowOfConnection(record), () => `Logged in as "${record.name}".`);
    return 0;
  },
};
