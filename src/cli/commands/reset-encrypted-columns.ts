import { connectionStore } from '../../connections/store.ts';
import { countEncrypted, deleteEncrypted } from '../../responses/encrypted-responses.ts';
import { audited } from '../audit.ts';
import type { Command } from '../command.ts';
import { listAlerts } from '../resources/alerts.ts';
import { count } from '../terminal/text.ts';

interface AffectedCredential {
  id: string;
  provider: string;
  name: string;
  /** Whether the key in force can still decrypt the credential. */
  decrypts: boolean;
}

export const resetEncryptedColumnsCommand: Command = {
  arguments: [],
  flags: [{ name: 'force', summary: 'really do it; without this flag, only list what would be lost' }],
  needs: 'store',
  about:
    'For when the key is lost: removes every stored credential, and the alerts and kept responses, which are encrypted too. The connections stay, and each shows that you have to enter its credential again.',
  examples: [
    { command: 'gateway reset-encrypted-columns', does: 'what would be lost' },
    {
      command: 'gateway reset-encrypted-columns --force',
      does: 'removes the credentials and the kept responses',
    },
  ],
  run: async (options, context) => {
    const { io } = context;
    const force = options.on('force');
    io.note(
      'WARNING: this removes the stored credentials of all connections, all alerts and all kept responses, and only a backup brings them back.',
    );
    const store = await context.existingStore();
    const key = await context.sealingKey();
    const connections = store === null ? null : connectionStore(store, key.key);
    const affected = (await connections?.listSealed()) ?? [];
    const responses = store === null ? 0 : (await countEncrypted(store, key.responses.name)).total;
    const alerts = (await listAlerts(context)).length;
    const total = affected.length + alerts + responses;
    if (force && store !== null && connections !== null && total > 0) {
      const before = { connections: affected.map(({ id }) => id), alerts, responses };
      const entry = { action: 'connections.reset_credentials', target: null, before };
      await audited(context, entry, async () => {
        await connections.clearCredentials();
        await store.db.deleteFrom('alerts').execute();
        await deleteEncrypted(store);
      });
    }
    const cleared = force ? affected.length : 0;
    io.result({ dry_run: !force, cleared, connections: affected, alerts, responses }, () => {
      if (total === 0) return 'Nothing encrypted is stored.';
      const alertsLost = alerts === 0 ? '' : `, ${count(alerts, 'alert')}`;
      const what = `${count(affected.length, 'credential')}${alertsLost} and ${count(responses, 'kept response')}`;
      if (force) return `Removed ${what}.`;
      const rows = io.table<AffectedCredential>(
        [
          { title: 'NAME', cell: ({ name }) => name },
          { title: 'PROVIDER', cell: ({ provider }) => provider },
          {
            title: 'CREDENTIAL',
            cell: ({ decrypts }) => (decrypts ? 'can be decrypted' : 'cannot be decrypted'),
          },
        ],
        affected,
      );
      return `${rows}\n\nNothing was changed. With --force ${what} would be removed.`;
    });
    return 0;
  },
};
