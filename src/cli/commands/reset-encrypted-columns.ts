import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { connectionStore } from '../../connections/store.ts';
import { audited } from '../audit.ts';
import type { Command } from '../command.ts';
import type { Context } from '../context.ts';
import { count } from '../text.ts';

interface Affected {
  id: string;
  provider: string;
  name: string;
  /** Whether the key in force can still decrypt the credential. */
  decrypts: boolean;
}

export const resetEncryptedColumnsCommand: Command = {
  arguments: [],
  flags: [{ name: 'force', summary: 'really do it: without it there is only a list of what would be lost' }],
  needs: 'store',
  about:
    'For when the key is lost: removes every stored credential. The connections stay, and each shows that its credential has to be entered again.',
  examples: [
    { command: 'gateway reset-encrypted-columns', does: 'what would be lost' },
    { command: 'gateway reset-encrypted-columns --force', does: 'removes the credentials' },
  ],
  run: async (options, context) => {
    const { io } = context;
    const force = options.on('force');
    io.note(
      'WARNING: this removes the stored credentials of all connections, and only a backup brings them back.',
    );
    const store = await context.existingStore();
    const connections = store === null ? null : connectionStore(store, await keyOf(context));
    const affected = (await connections?.listSealed()) ?? [];
    if (force && connections !== null && affected.length > 0) {
      const before = { connections: affected.map(({ id }) => id) };
      const entry = { action: 'connections.reset_credentials', target: null, before };
      await audited(context, entry, () => connections.clearCredentials());
    }
    io.result({ dry_run: !force, cleared: force ? affected.length : 0, connections: affected }, () => {
      if (affected.length === 0) return 'No credential is stored.';
      const what = count(affected.length, 'credential');
      if (force) return `Removed ${what}.`;
      const rows = io.table<Affected>(
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

/** The key in force. Where it is lost none is made for the sake of looking: one that opens nothing serves as well. */
async function keyOf({ config, sealingKey }: Context): Promise<Buffer> {
  const { dataDir, storageKey } = await config();
  const there = storageKey !== null || existsSync(join(dataDir, 'storage.key'));
  return there ? (await sealingKey()).key : randomBytes(32);
}
