import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { openConfined, openConfinedFolder } from './confined-path.ts';

/** Larger files are not read whole into memory, nor written. */
const maxFileBytes = 16 * 1024 * 1024;

export class FileTooLargeError extends Error {
  constructor() {
    super(`The file has more than ${maxFileBytes} bytes`);
    this.name = 'FileTooLargeError';
  }
}

/**
 * The text of a file below `root`.
 * @param line the first line, counted from 1
 * @param limit how many lines at most
 * @throws OutsideError, FileTooLargeError; the error of the file system
 */
export async function readText(
  root: string,
  path: string,
  line: number | null = null,
  limit: number | null = null,
): Promise<string> {
  const file = await openConfined(root, path);
  try {
    const { size } = await file.stat();
    if (size > maxFileBytes) throw new FileTooLargeError();
    const text = await file.readFile('utf8');
    if (line === null && limit === null) return text;
    const start = Math.max(0, (line ?? 1) - 1);
    const lines = text.split('\n');
    return lines.slice(start, limit === null ? undefined : start + limit).join('\n');
  } finally {
    await file.close();
  }
}

/**
 * Writes a file below `root` in one step: readers see the old text or the new one.
 * @throws OutsideError, FileTooLargeError; the error of the file system
 */
export async function writeText(root: string, path: string, text: string): Promise<void> {
  if (Buffer.byteLength(text) > maxFileBytes) throw new FileTooLargeError();
  const file = await openConfinedFolder(root, path);
  const target = join(file.folder, file.name);
  const draft = join(file.folder, `.${file.name.slice(0, 100)}.${randomBytes(6).toString('hex')}`);
  try {
    const earlier = await stat(target).catch(() => null);
    const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
    const flags = O_WRONLY | O_CREAT | O_EXCL | (O_NOFOLLOW ?? 0);
    const file = await open(draft, flags, earlier === null ? 0o644 : earlier.mode & 0o777);
    try {
      await file.writeFile(text);
    } finally {
      await file.close();
    }
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}
