import { join } from 'node:path';
import type { StorageKey } from '../connections/seal.ts';
import type { Resource, Row } from '../http/resource.ts';
import { GatewayError } from '../lib/error.ts';
import { backupFolder, backupName, createBackup, type Progress } from './create.ts';
import { type BackupFile, findBackup, listBackups, removeBackup } from './list.ts';
import { unpackBackup } from './read.ts';
import { backupRow, newBackup } from './schema.ts';

export interface BackupsInput {
  dataDir: string;
  storageKey: StorageKey;
  version: string;
  tasks: BackupTasks;
  /** A fault of the gateway's own, for the log. */
  report(error: unknown): void;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** Where it is kept how far a backup is. */
export interface BackupTasks {
  begin(task: { name: string; target: string; userId: string; message: string }): Promise<string>;
  progress(id: string, progress: number, message: string): Promise<void>;
  finish(
    id: string,
    status: 'Ok' | 'Error',
    message: string,
    result?: Record<string, unknown>,
  ): Promise<void>;
}

export interface Backups {
  resource: Resource;
  /** Resolves when none is being made any more. */
  settled(): Promise<void>;
}

/** How often it is noted how far a backup is. */
const NOTED_MS = 500;

/** The backups in the data directory. A restore needs the gateway stopped, so it is done at the command line. */
export function openBackups(input: BackupsInput): Backups {
  let making: Promise<void> | null = null;
  const begin = async (userId: string, includeKey: boolean): Promise<{ row: Row; taskId: string }> => {
    if (making !== null)
      throw new GatewayError('conflict', 'A backup is being made: wait until its task is done');
    const { promise, resolve } = Promise.withResolvers<void>();
    making = promise.then(() => {
      making = null;
    });
    const now = input.now();
    const id = backupName(now);
    try {
      const taskId = await input.tasks.begin({
        ...{ name: 'backup', target: `/api/backups/${id}`, userId },
        message: 'A backup was asked for',
      });
      void make(input, { id, now, includeKey, taskId }).then(resolve);
      return { row: { id }, taskId };
    } catch (error) {
      resolve();
      throw error;
    }
  };
  return { resource: backupsResource(input, begin), settled: async () => (await making) ?? undefined };
}

interface Making {
  id: string;
  taskId: string;
  now: number;
  includeKey: boolean;
}

/** Makes a backup and keeps its task up to date. Never rejects. */
async function make(input: BackupsInput, { id, includeKey, now, taskId }: Making): Promise<void> {
  const { dataDir, report, storageKey, tasks, version } = input;
  let noted = performance.now();
  const progress: Progress = (done, doing) => {
    if (performance.now() - noted < NOTED_MS) return;
    noted = performance.now();
    tasks.progress(taskId, done, doing).catch(report);
  };
  try {
    const output = join(backupFolder(dataDir), id);
    const { bytes, manifest } = await createBackup({
      ...{ dataDir, output, storageKey, version, now, includeKey, progress },
    });
    const result = { id, bytes, includes_secret: manifest.key.included };
    await tasks.finish(taskId, 'Ok', `The backup ${id} is made`, result);
  } catch (error) {
    const known = error instanceof GatewayError;
    if (!known || error.status >= 500) report(error);
    const message = known ? error.message.replaceAll(`${dataDir}/`, '') : 'It failed; the log has the cause';
    await tasks.finish(taskId, 'Error', message).catch(report);
  }
}

function backupsResource(
  { dataDir }: BackupsInput,
  begin: (userId: string, includeKey: boolean) => Promise<{ row: Row; taskId: string }>,
): Resource {
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
      run: (input, caller) => begin(caller.userId, newBackup.parse(input).include_key ?? true),
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
        perMinute: 12,
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
