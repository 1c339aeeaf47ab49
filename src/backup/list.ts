import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { GatewayError } from '../lib/error.ts';
import { backupFolder } from './create.ts';
import { readManifest } from './read.ts';
import type { Manifest } from './schema.ts';

/** A file in the folder of backups. */
export interface BackupFile {
  name: string;
  path: string;
  bytes: number;
  /** Null where it cannot be read as a backup. */
  manifest: Manifest | null;
}

const fileName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}\.tar\.gz$/;

/** The backups in the data directory, newest first. Their contents are not checked. */
export async function listBackups(dataDir: string): Promise<BackupFile[]> {
  const names = await readdir(backupFolder(dataDir)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const files: BackupFile[] = [];
  for (const name of names) {
    const file = await findBackup(dataDir, name);
    if (file !== null) files.push(file);
  }
  const time = ({ manifest }: BackupFile) => manifest?.created_at ?? '';
  return files.sort((one, other) => (time(one) < time(other) ? 1 : -1));
}

/** One of them, by the name of its file; null when there is none. */
export async function findBackup(dataDir: string, name: string): Promise<BackupFile | null> {
  if (!fileName.test(name)) return null;
  const path = join(backupFolder(dataDir), name);
  const stats = await stat(path).catch(() => null);
  if (stats === null || !stats.isFile()) return null;
  const manifest = await readManifest(path).catch((error: unknown) => {
    if (error instanceof GatewayError) return null;
    throw error;
  });
  return { name, path, bytes: stats.size, manifest };
}

/** False when there was none. */
export async function removeBackup(dataDir: string, name: string): Promise<boolean> {
  const backup = await findBackup(dataDir, name);
  if (backup === null) return false;
  await rm(backup.path);
  return true;
}
