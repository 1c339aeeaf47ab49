import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { backupFolder } from '../../backup/create.ts';
import { restoreBackup } from '../../backup/restore.ts';
import { readRunFile } from '../../run-file.ts';
import { recordCommand } from '../audit.ts';
import type { Command } from '../command.ts';
import { tableNotes } from '../storage/table-notes.ts';
import { confirmDestruction } from '../terminal/confirm.ts';
import { printable } from '../terminal/text.ts';

export const restoreCommand: Command = {
  arguments: [{ name: 'file', summary: 'a backup, or the name of one in DATA_DIR/backups', required: true }],
  flags: [{ name: 'yes', short: 'y', summary: 'do not ask' }],
  needs: 'store',
  about:
    'Needs the gateway stopped, with DATABASE_URL all gateways. The backup is checked, opened and migrated to the schema of this version before anything changes, and the current state is saved in DATA_DIR/backups. A database of DATABASE_URL must be empty; if the command is interrupted then, run it again and it continues. Keys, users and automation tokens become what they were at the time of the backup, including those removed since; all logins end. The audit log and files that the backup does not have stay as they are.',
  examples: [
    { command: 'gateway restore modelgate-2026-11-21T10-00-00-000Z.tar.gz', does: 'from DATA_DIR/backups' },
    { command: 'gateway restore /mnt/safe/modelgate.tar.gz --yes --json', does: 'in a script' },
  ],
  run: async (options, context) => {
    const { io, now } = context;
    const { database, dataDir, storageKey } = await context.config();
    const fileArgument = options.argument('file') ?? '';
    const file = fileOf(fileArgument, dataDir);
    io.note('Checking the backup …');
    const { keyMatches, manifest, previous, to } = await restoreBackup({
      dataDir,
      database,
      file,
      secret: storageKey,
      now: now(),
      owner: () => readRunFile(dataDir),
      onProven: async ({ created_at, modelgate }) => {
        const what =
          database === null ? `Replace the state in ${dataDir} by` : 'Fill the database of DATABASE_URL with';
        const question = `${what} the backup of ${created_at} (Modelgate ${printable(modelgate)})?`;
        await confirmDestruction(question, options, io);
        await recordCommand(context, { action: 'backups.restore', target: file, after: { created_at } });
      },
      progress: tableNotes(io),
    });
    if (!keyMatches)
      io.note(
        'The stored credentials and kept responses cannot be decrypted with the key that is in force here: set the STORAGE_ENCRYPTION_KEY of then, put its storage.key in place, or enter the credentials again.',
      );
    if (previous !== null) io.note(`What was there before is in ${previous}.`);
    if (database !== null)
      io.note(
        'Start the gateways. Each needs the same STORAGE_ENCRYPTION_KEY, or the storage.key that is here.',
      );
    const { created_at, members, modelgate, schema } = manifest;
    io.result(
      {
        restored: true,
        file,
        to,
        created_at,
        version: modelgate,
        schema,
        previous,
        members: members.map(({ name }) => name),
        key_matches: keyMatches,
      },
      () => `Restored the backup of ${created_at}.`,
    );
    return 0;
  },
};

/** A path, or where there is nothing, the name of a backup in the data directory. */
function fileOf(path: string, dataDir: string): string {
  const inFolder = join(backupFolder(dataDir), path);
  return !existsSync(path) && path === basename(path) && existsSync(inFolder) ? inFolder : resolve(path);
}
