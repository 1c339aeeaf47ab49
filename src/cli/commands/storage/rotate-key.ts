import { join } from 'node:path';
import { readRunFile } from '../../../run-file.ts';
import { audited } from '../../audit.ts';
import type { Command } from '../../command.ts';
import { type RotationStep, rotateStorageKey } from '../../storage/rotate-key.ts';
import { count } from '../../terminal/text.ts';
import { version } from '../../version.ts';

const notes: Readonly<Partial<Record<RotationStep, string>>> = {
  backup: 'Making a backup …',
  encrypt: 'Encrypting the credentials and kept responses with the new key …',
};

export const storageRotateKeyCommand: Command = {
  arguments: [],
  flags: [],
  needs: 'store',
  about:
    'Needs the gateway stopped, with DATABASE_URL all gateways. The new key is STORAGE_ENCRYPTION_KEY if set, else a new one in DATA_DIR/storage.key. The old key is STORAGE_ENCRYPTION_KEY_OLD if set, else the one in DATA_DIR/storage.key. The command makes a backup first, which needs the old key. However the command ends, one of the two keys opens everything. Answers kept for Idempotency-Key are deleted.',
  examples: [
    { command: 'gateway storage rotate-key', does: 'a new key in storage.key' },
    {
      command:
        'STORAGE_ENCRYPTION_KEY_OLD="$OLD" STORAGE_ENCRYPTION_KEY="$NEW" gateway storage rotate-key --json',
      does: 'from one secret to another',
    },
  ],
  run: async (_, context) => {
    const { io, now } = context;
    const { database, dataDir, storageKey: secret } = await context.config();
    const oldSecret = (await context.variable('STORAGE_ENCRYPTION_KEY_OLD')) ?? null;
    const entry = { action: 'storage.rotate_key', target: null };
    const rotated = await audited(context, entry, () =>
      rotateStorageKey({
        dataDir,
        database,
        secret,
        oldSecret,
        version: version(),
        now: now(),
        owner: () => readRunFile(dataDir),
        progress: (step) => {
          const note = notes[step];
          if (note !== undefined) io.note(note);
        },
      }),
    );
    const { backup, credentials, responses, source } = rotated;
    io.note(`The backup of before needs the old key: ${backup}`);
    if (source === 'file' && oldSecret !== null)
      io.note('The key is in storage.key now: unset STORAGE_ENCRYPTION_KEY for the gateway.');
    if (database !== null)
      io.note(
        source === 'file'
          ? `Copy ${join(dataDir, 'storage.key')} into the data directory of each gateway before you start it.`
          : 'Set STORAGE_ENCRYPTION_KEY to the new key for each gateway before you start it.',
      );
    io.result({ rotated: true, key_source: source, credentials, responses, backup }, () => {
      const what = `${count(credentials, 'credential')} and ${count(responses, 'kept response')}`;
      return `Encrypted ${what} with the key of ${source === 'file' ? 'storage.key' : 'STORAGE_ENCRYPTION_KEY'}.`;
    });
    return 0;
  },
};
