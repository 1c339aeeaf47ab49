import { basename } from 'node:path';
import type { StorageKey } from '../connections/seal.ts';
import type { Resource, Row } from '../http/resource.ts';
import { GatewayError } from '../lib/error.ts';
import { createBackup } from './create.ts';
import { type BackupFile, findBackup, listBackups, removeBackup } from './list.ts';
import { unpackBackup } from './read.ts';
import { backupRow, newBackup } from './schema.ts';

export interface BackupsInput {
  dataDir: string;
  storageKey: StorageKey;
  version: string;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** The backups in the data directory. A restore needs the gateway stopped, so it is done at the command line. */
export function backupsResource({ dataDir, now, storageKey, version }: BackupsInput): Resource {
  let making = false;
  const find = async (id: string): Promise<Row | null> => {
    const file = await findBackup(dataDir, id);
    return file === null ? null : rowOf(file);
  };
  return {
    name: 'backups',
    title: 'Backups',
    summary: 'Backups of the configuration and the database, in the data directory.',
    record: backupRow,
    read: 'backups:read',
    list: async () => (await listBackups(dataDir)).map(rowOf),
    find,
    create: {
      permission: 'backups:create',
      input: newBackup,
      async run(input) {
        const { include_key } = newBackup.parse(input);
        if (making) throw new GatewayError('conflict', 'A backup is being made: wait until it is done');
        making = true;
        try {
          const { path } = await createBackup({
            ...{ dataDir, output: null, storageKey, version, now: now() },
            includeKey: include_key ?? true,
          });
          const row = await find(basename(path));
          if (row === null)
            throw new GatewayError('not_found', 'The backup was removed as soon as it was made');
          return { row };
        } finally {
          making = false;
        }
      },
    },
    remove: {
      permission: 'backups:create',
      async run(row) {
        if (!(await removeBackup(dataDir, row.id)))
          throw new GatewayError('not_found', `The backup ${row.id} was removed meanwhile`);
      },
    },
    actions: {
      verify: {
        summary: 'Reads the whole backup and compares it with its manifest.',
        permission: 'backups:create',
        async run(row) {
          const file = await findBackup(dataDir, row.id);
          if (file === null)
            throw new GatewayError('not_found', `The backup ${row.id} was removed meanwhile`);
          try {
            await unpackBackup(file.path, null);
            return { success: true, message: `${row.id} is whole` };
          } catch (error) {
            if (!(error instanceof GatewayError)) throw error;
            return { success: false, message: error.message.replace(file.path, row.id) };
          }
        },
      },
      restore: {
        summary: 'Says how to restore the backup, which needs the gateway stopped.',
        permission: 'backups:restore',
        run: async (row) => ({
          success: false,
          message: `Nothing was changed: stop the gateway, then run \`gateway restore ${row.id}\` on its machine`,
        }),
      },
    },
  };
}

function rowOf({ bytes, manifest, name }: BackupFile): Row {
  return {
    id: name,
    bytes,
    created_at: manifest?.created_at ?? null,
    version: manifest?.modelgate ?? null,
    schema: manifest?.schema ?? null,
    includes_secret: manifest?.key.included ?? null,
    members: manifest?.members.map((member) => member.name) ?? [],
    usable: manifest !== null,
  };
}
