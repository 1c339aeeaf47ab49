import { join } from 'node:path';
import type { StorageKey } from '../connections/credentials/seal.ts';
import type { Action, Resource, Row } from '../http/resource.ts';
import { GatewayError } from '../lib/error.ts';
import { backupFolder, backupName, createBackup } from './create.ts';
import { gatewayStops } from './gateway-stops.ts';
import { type BackupFile, findBackup, listBackups, removeBackup } from './list.ts';
import { unpackBackup } from './read.ts';
import { backupRow, newBackup } from './schema.ts';
import { type BackupWork, createBackupWork, type NewWork, type WorkInput } from './work.ts';

export interface BackupsInput extends WorkInput {
  /** DATABASE_URL; null where the database is in the data directory. */
  database: string | null;
  storageKey: StorageKey;
  version: string;
  /** Milliseconds since the epoch. */
  now(): number;
}

export interface Backups {
  resource: Resource;
  /** Resolves when none is being made or checked any more. */
  settled(): Promise<void>;
  /** Ends the one that is being made, of which nothing is left. Resolves as `settled` does. */
  close(): Promise<void>;
}

/** The backups in the data directory. A restore needs the gateway stopped, so it is done at the command line. */
export function openBackups(input: BackupsInput): Backups {
  const work = createBackupWork(input);
  const stopping = new AbortController();
  return {
    resource: backupsResource({ ...input, signal: stopping.signal }, work),
    settled: work.settled,
    close() {
      stopping.abort(gatewayStops());
      return work.settled();
    },
  };
}

interface ResourceInput extends BackupsInput {
  signal: AbortSignal;
}

function backupsResource(input: ResourceInput, work: BackupWork): Resource {
  const { dataDir } = input;
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
      perMinute: 6,
      slow: true,
      input: newBackup,
      async run(body, caller) {
        const now = input.now();
        const id = backupName(now);
        const run = making(input, { id, now, includeKey: newBackup.parse(body).include_key ?? true });
        const message = 'A backup was requested';
        const { taskId } = await work.begin({ action: 'create', id, caller, message, run }, false);
        return { row: { id }, taskId };
      },
    },
    remove: {
      permission: 'backups:create',
      async run(row) {
        if (!(await removeBackup(dataDir, row.id))) throw removedMeanwhile(row.id);
      },
    },
    actions: { verify: verifying(dataDir, work), restore: explained(input.database !== null) },
  };
}

function making(
  { dataDir, database, signal, storageKey, version }: ResourceInput,
  { id, includeKey, now }: { id: string; now: number; includeKey: boolean },
): NewWork['run'] {
  return async (progress) => {
    const output = join(backupFolder(dataDir), id);
    const { bytes, manifest } = await createBackup({
      dataDir,
      database,
      output,
      signal,
      storageKey,
      version,
      now,
      includeKey,
      progress,
    });
    return {
      message: `The backup ${id} is made`,
      result: { id, bytes, includes_secret: manifest.key.included },
    };
  };
}

/** A small backup is checked by the time of the answer; what takes longer is left to its task. */
function verifying(dataDir: string, work: BackupWork): Action {
  return {
    summary: 'Reads the whole backup and compares it with its manifest, in a task if that takes longer.',
    permission: 'backups:create',
    perMinute: 12,
    async run({ id }, _given, caller) {
      const file = await findBackup(dataDir, id);
      if (file === null) throw removedMeanwhile(id);
      const run: NewWork['run'] = async (progress) => {
        const { members } = await unpackBackup(file.path, null, (done) => progress(done, 'Reading it'));
        return { message: `${id} is whole`, result: { id, members: members.map(({ name }) => name) } };
      };
      const message = 'A check was requested';
      const { end, taskId } = await work.begin({ action: 'verify', id, caller, message, run }, true);
      return {
        ...(end ?? { success: true, message: `${id} is being checked; its task has the end` }),
        taskId,
      };
    },
  };
}

function explained(onServer: boolean): Action {
  const stop = onServer ? 'stop all gateways, set DATABASE_URL to an empty database' : 'stop the gateway';
  return {
    summary: 'Explains how to restore the backup, which requires a stopped gateway.',
    permission: 'backups:restore',
    run: async (row) => ({
      success: false,
      message: `Nothing was changed: ${stop}, then run \`gateway restore ${row.id}\` on its machine`,
    }),
  };
}

function removedMeanwhile(id: string): GatewayError {
  return new GatewayError('not_found', `The backup ${id} was removed in the meantime`);
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
