import { join } from 'node:path';
import type { Config } from '../config.ts';
import type { StorageKey } from '../connections/credentials/seal.ts';
import { describe, type Log } from '../lib/log.ts';
import type { Schedule } from '../lib/schedule.ts';
import { backupFolder, createBackup } from './create.ts';
import { type BackupFile, listBackups, removeBackup } from './list.ts';

export interface ScheduledInput {
  dataDir: string;
  /** Age of the newest scheduled backup at which the next is made. */
  everyMs: number;
  /** How many scheduled backups stay. */
  keep: number;
  storageKey: StorageKey;
  version: string;
  /** Milliseconds since the epoch. */
  now: number;
}

/** How often the age of the newest one is looked at. */
const LOOKED_AT_MS = 15 * 60_000;

/** Has backups made as the configuration says. A failed one is in the log and in the health of the scheduler. */
export function scheduleBackups(
  schedule: Pick<Schedule, 'every'>,
  { everyHours, keep }: Config['backups'],
  input: Omit<ScheduledInput, 'everyMs' | 'keep' | 'now'> & { now(): number; log: Log },
): void {
  if (everyHours === null) return;
  const { log, now, ...rest } = input;
  schedule.every({
    name: 'scheduled backup',
    everyMs: LOOKED_AT_MS,
    async run() {
      const name = await backUpWhenDue({ ...rest, everyMs: everyHours * 3_600_000, keep, now: now() });
      if (name !== null) log.info({ backup: name }, 'a scheduled backup is made');
    },
    onError: (error) => log.error({ error: describe(error) }, 'the scheduled backup failed'),
  });
}

const PREFIX = 'scheduled-';

/**
 * Makes a backup when the newest scheduled one is old enough, or there is none, and then removes the oldest of them. Backups that
 * somebody asked for are left alone. A backup counts once it was read back, and nothing is removed before that.
 * @returns the name of the backup; null when none was due
 * @throws GatewayError when it could not be made
 */
export async function backUpWhenDue(input: ScheduledInput): Promise<string | null> {
  const { dataDir, everyMs, keep, now, storageKey, version } = input;
  const before = await scheduled(dataDir);
  const newest = before[0]?.manifest?.created_at;
  if (newest !== undefined && now - Date.parse(newest) < everyMs) return null;
  const name = `${PREFIX}${new Date(now).toISOString().replace(/[:.]/g, '-')}.tar.gz`;
  const output = join(backupFolder(dataDir), name);
  await createBackup({ dataDir, output, storageKey, includeKey: true, version, now });
  for (const { name: old } of (await scheduled(dataDir)).slice(keep)) await removeBackup(dataDir, old);
  return name;
}

/** Newest first. What cannot be read as a backup is not counted and stays. */
async function scheduled(dataDir: string): Promise<BackupFile[]> {
  const all = await listBackups(dataDir);
  return all.filter(({ manifest, name }) => manifest !== null && name.startsWith(PREFIX));
}
