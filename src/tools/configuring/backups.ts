import { createHash } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GatewayError } from '../../lib/error.ts';
import { makeFolder } from '../../lib/files/folder.ts';
import { newId } from '../../lib/id.ts';
import type { Json } from '../files/value.ts';
import { type BackupFile, type BackupManifest, backupManifest } from '../schema.ts';
import { type FileState, writeFileWhole } from './write-file.ts';

/** So many backups of a tool are kept; what a restore to the beginning needs is kept besides. */
const KEPT = 20;

/** A file that is about to change, as the backup keeps it. */
export interface SavedFile extends Omit<BackupFile, 'content' | 'mode'> {
  before: FileState;
}

export interface NewBackup extends Pick<BackupManifest, 'tool' | 'action' | 'gateway'> {
  files: readonly SavedFile[];
  now: number;
}

/** Keeps the files of a tool as they are, before they change. They are readable by their owner only. */
export async function saveBackup(dataDir: string, backup: NewBackup): Promise<BackupManifest> {
  const { action, gateway, now, tool } = backup;
  const id = newId('tbk', now);
  const folder = join(toolFolder(dataDir, tool), id);
  makeFolder(folder);
  const files: BackupFile[] = [];
  for (const [index, { before, ...file }] of backup.files.entries()) {
    const content = before.bytes === null ? null : String(index);
    if (content !== null && before.bytes !== null)
      await writeFile(join(folder, content), before.bytes, { mode: 0o600, flush: true });
    files.push({ ...file, content, mode: before.mode });
  }
  const manifest = { id, tool, action, created_at: new Date(now).toISOString(), gateway, files };
  await writeManifest(dataDir, manifest);
  return manifest;
}

/** Corrects a backup after its write, when it is known which folders were made. */
export async function writeManifest(dataDir: string, manifest: BackupManifest): Promise<void> {
  const path = join(toolFolder(dataDir, manifest.tool), manifest.id, 'manifest.json');
  await writeFileWhole(path, Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`), 0o600);
}

export async function dropBackup(dataDir: string, { id, tool }: BackupManifest): Promise<void> {
  await rm(join(toolFolder(dataDir, tool), id), { recursive: true, force: true });
}

/** The backups of a tool, the oldest first. One that cannot be read is left out. */
export async function listBackups(dataDir: string, tool: string): Promise<BackupManifest[]> {
  const folder = toolFolder(dataDir, tool);
  const ids = await readdir(folder).catch(() => []);
  const manifests = await Promise.all(
    ids.sort().map(async (id) => {
      try {
        const text = await readFile(join(folder, id, 'manifest.json'), 'utf8');
        return backupManifest.safeParse(JSON.parse(text)).data ?? null;
      } catch {
        return null;
      }
    }),
  );
  return manifests.filter((manifest) => manifest !== null);
}

/** The changes since the tool's files were last restored: what leads back to how its owner had them. */
export function sinceRestore(backups: readonly BackupManifest[]): BackupManifest[] {
  return backups.slice(backups.findLastIndex(({ action }) => action === 'restore') + 1);
}

/** @throws GatewayError when the content of the backup is gone */
export async function savedState(
  dataDir: string,
  backup: BackupManifest,
  file: BackupFile,
): Promise<FileState> {
  if (file.content === null) return { bytes: null, mode: null };
  try {
    const bytes = await readFile(join(toolFolder(dataDir, backup.tool), backup.id, file.content));
    return { bytes, mode: file.mode };
  } catch (error) {
    throw new GatewayError('internal_error', `The backup ${backup.id} is damaged: it lacks ${file.path}`, {
      cause: error,
    });
  }
}

/** Removes backups that are older than the last twenty and that no restore needs. */
export async function pruneBackups(dataDir: string, tool: string): Promise<void> {
  const backups = await listBackups(dataDir, tool);
  const needed = new Set(sinceRestore(backups).map(({ id }) => id));
  for (const backup of backups.slice(0, -KEPT)) if (!needed.has(backup.id)) await dropBackup(dataDir, backup);
}

export function digest(content: Uint8Array | string): string {
  return createHash('sha256').update(content).digest('hex');
}

export function valueDigest(value: Json): string {
  return digest(JSON.stringify(value));
}

function toolFolder(dataDir: string, tool: string): string {
  return join(dataDir, 'tool-backups', tool);
}
