import { randomBytes } from 'node:crypto';
import { lstat, open, readFile, readlink, realpath, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { makeFolder } from '../../lib/files/folder.ts';

/** A file as it was found. Null bytes: there is none. */
export interface FileState {
  bytes: Buffer | null;
  /** Permission bits. */
  mode: number | null;
}

/** Above so many bytes a file is no configuration. */
const MOST_BYTES = 16 * 1024 * 1024;

/** @throws the system's error when there is a file that cannot be read, or one of absurd size */
export async function readState(path: string): Promise<FileState> {
  try {
    const { mode, size } = await stat(path);
    if (size > MOST_BYTES)
      throw new Error(`${path} has ${size} bytes, which is too much for a configuration`);
    return { bytes: await readFile(path), mode: mode & 0o7777 };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { bytes: null, mode: null };
    throw error;
  }
}

/**
 * Replaces a file in one step, and makes the folders that are missing. A symbolic link stays, and what it leads to is
 * replaced.
 * @returns the folders that were made, the outermost first
 */
export async function writeFileWhole(path: string, bytes: Uint8Array, mode: number): Promise<string[]> {
  const target = await linkTarget(path);
  const folders = await missingFolders(dirname(target));
  makeFolder(dirname(target));
  const temporary = `${target}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    const file = await open(temporary, 'wx', mode);
    try {
      await file.writeFile(bytes);
      await file.chmod(mode);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  return folders;
}

/** Puts a file into a state that it had. */
export async function putState(path: string, { bytes, mode }: FileState): Promise<void> {
  if (bytes === null) await rm(await linkTarget(path), { force: true });
  else await writeFileWhole(path, bytes, mode ?? 0o600);
}

/** Removes folders that were made for a file, where nothing else came into them. */
export async function removeEmptyFolders(folders: readonly string[]): Promise<void> {
  for (const folder of folders.toSorted((a, b) => b.length - a.length)) {
    try {
      await rmdir(folder);
    } catch {
      // Something else came into it.
    }
  }
}

async function missingFolders(folder: string): Promise<string[]> {
  const missing: string[] = [];
  let current = folder;
  while ((await lstat(current).catch(() => null)) === null && dirname(current) !== current) {
    missing.unshift(current);
    current = dirname(current);
  }
  return missing;
}

/** Where a chain of symbolic links ends, also when nothing is there yet. */
async function linkTarget(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    // It does not exist, or it is a link to what does not.
  }
  let current = path;
  for (let followed = 0; followed < 40; followed += 1) {
    const link = await readlink(current).catch(() => null);
    if (link === null) return current;
    current = resolve(dirname(current), link);
  }
  throw new Error(`${path} is a link that leads back to itself`);
}
