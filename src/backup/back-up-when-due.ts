import { join } from 'node:path';
import type { StorageKey } from '../connections/credentials/seal.ts';
import { backupFolder, createBackup } from './create.ts';
import { type BackupFile, listBackups, removeBackup } from './list.ts';
import { type SharedScheduleInput, whenDueInCluster } from './shared-schedule.ts';

export interface ScheduledInput {
  dataDir: string;
  /** Where the database is on a server: its address, and the store that the gateways share. Null: in the data directory. */
  server: ScheduledOnServer | null;
  /** Age of the newest scheduled backup at which the next is made. */
  everyMs: number;
  /** How many scheduled backups stay. */
  keep: number;
  storageKey: StorageKey;
  version: string;
  /** Milliseconds since the epoch. */
  now: number;
  /** Ends the one that is being made. */
  signal?: AbortSignal;
  /** Told of a fault that does not keep the backup from being made. */
  onError?(error: unknown): void;
}

export interface ScheduledOnServer {
  /** DATABASE_URL. */
  url: string;
  store: SharedScheduleInput['store'];
}

const PREFIX = 'scheduled-';

/**
 * Makes a backup when the newest scheduled one is old enough, or there is none, and then removes the oldest of them. Backups that
 * were requested are left alone. A backup counts once it was read back, and nothing is removed before that. Of the
 * gateways that share a database one makes it.
 * @returns the name of the backup; null when none was due
 * @throws GatewayError when it could not be made
 */
export async function backUpWhenDue(input: ScheduledInput): Promise<string | null> {
  const { dataDir, everyMs, now, server } = input;
  if (server !== null) {
    const onError = input.onError ?? (() => {});
    return whenDueInCluster({ store: server.store, everyMs, onError }, () => backUp(input));
  }
  const before = await scheduled(dataDir);
  const newest = before[0]?.manifest?.created_at;
  if (newest !== undefined && now - Date.parse(newest) < everyMs) return null;
  return backUp(input);
}

async function backUp({ dataDir, keep, now, server, signal, storageKey, version }: ScheduledInput) {
  const name = `${PREFIX}${new Date(now).toISOString().replace(/[:.]/g, '-')}.tar.gz`;
  const output = join(backupFolder(dataDir), name);
  await createBackup({
    dataDir,
    database: server?.url ?? null,
    output,
    storageKey,
    includeKey: true,
    version,
    now,
    ...(signal === undefined ? {} : { signal }),
  });
  for (const { name: old } of (await scheduled(dataDir)).slice(keep)) await removeBackup(dataDir, old);
  return name;
}

/** Newest first. What cannot be read as a backup is not counted and stays. */
async function scheduled(dataDir: string): Promise<BackupFile[]> {
  const all = await listBackups(dataDir);
  return all.filter(({ manifest, name }) => manifest !== null && name.startsWith(PREFIX));
}
