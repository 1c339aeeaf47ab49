import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { createBackup, type Progress } from '../../backup/create.ts';
import { databasePath } from '../../store/database.ts';
import { audited, recordCommand } from '../audit.ts';
import type { Command } from '../command.ts';
import { failure } from '../terminal/failure.ts';
import { interruptible } from '../terminal/interruption.ts';
import type { Io } from '../terminal/io.ts';
import { version } from '../version.ts';

export const backupCommand: Command = {
  arguments: [],
  flags: [
    {
      name: 'output',
      short: 'o',
      value: 'FILE',
      summary: 'where it goes (default: DATA_DIR/backups, named by the time)',
    },
    {
      name: 'without-key',
      summary: 'leave out storage.key, which decrypts the credentials and kept responses in the backup',
    },
  ],
  needs: 'store',
  about:
    'Writes one file, readable only by you and consistent while gateways run: the database, in the data directory or of DATABASE_URL, config.json and events.yaml. It overwrites nothing and is verified before it gets its name. A backup that contains storage.key opens every stored credential and response: guard it. A key from STORAGE_ENCRYPTION_KEY is never in it: keep that elsewhere. The audit log is not in it either.',
  examples: [
    { command: 'gateway backup', does: 'a file in DATA_DIR/backups' },
    { command: 'gateway backup --output /mnt/safe/modelgate.tar.gz --without-key', does: 'without the key' },
  ],
  run: async (options, context) => {
    const { io, now } = context;
    const database = await context.database();
    const dataDir = await context.dataDir();
    if (database !== null) {
      const { refuseOtherSchema } = await import('../../backup/copy-server.ts');
      // Opening it for the key would bring its schema up to date.
      await refuseOtherSchema(database);
    } else if (!existsSync(databasePath(dataDir)))
      throw failure(1, 'not_found', `There is no database in ${dataDir}, so nothing to back up`);
    const output = options.text('output');
    const storageKey = await context.sealingKey();
    const includeKey = !options.on('without-key');
    const entry = {
      action: 'backups.create',
      target: output === undefined ? null : resolve(output),
      input: { include_key: includeKey },
    };
    const intended = { ...entry, outcome: 'intended' } as const;
    const { bytes, manifest, path } = await audited(context, intended, () =>
      interruptible((signal) =>
        createBackup({
          dataDir,
          database,
          output: entry.target,
          storageKey,
          includeKey,
          version: version(),
          now: now(),
          progress: progressNotes(io),
          signal,
        }),
      ),
    );
    await recordCommand(context, entry);
    io.note(keyNote(manifest.key));
    const members = manifest.members.map(({ name }) => name);
    const { created_at, key, schema } = manifest;
    io.result(
      { file: path, bytes, created_at, schema, members, includes_key: key.included, key_source: key.source },
      () => path,
    );
    return 0;
  },
};

const NOTED_MS = 1000;

/** Says what is done when that changes, and how far it is each second. */
function progressNotes(io: Io): Progress {
  let lastNote = '';
  let at = 0;
  return (done, doing) => {
    if (doing === lastNote && performance.now() - at < NOTED_MS) return;
    io.note(doing === lastNote ? `${doing} … ${Math.floor(done * 100)} %` : `${doing} …`);
    lastNote = doing;
    at = performance.now();
  };
}

function keyNote({ included, source }: { included: boolean; source: 'environment' | 'file' }): string {
  if (included)
    return 'It contains storage.key: the file gives access to every stored credential and kept response.';
  return source === 'environment'
    ? 'The key is not in it: the credentials and kept responses in it are of use only with the same STORAGE_ENCRYPTION_KEY.'
    : 'The key is not in it: the credentials and kept responses in it are of use only with storage.key, so keep a copy of that.';
}
