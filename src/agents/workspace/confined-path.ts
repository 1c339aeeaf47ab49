import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';

/** A path that leads out of the folder it is confined to, or is none. */
export class OutsideError extends Error {
  override readonly name = 'OutsideError';
}

/**
 * Whether a path is a folder or below it. Both without symbolic links and without `..`.
 */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** A file's own folder, held open, and its name there. */
interface ConfinedFile {
  /** The folder, by a name that stays with it when others are put in its place. */
  folder: string;
  name: string;
  close(): Promise<void>;
}

/**
 * Opens a file below `root` for reading. What is not a regular file is refused, and so is everything that lies
 * outside, however the path leads there and whatever is exchanged on the way meanwhile.
 * @param root without symbolic links
 * @throws OutsideError; the error of the file system where there is no such file
 */
export async function openConfined(root: string, path: string): Promise<FileHandle> {
  const real = await realpath(absolute(root, path));
  if (!isInside(root, real)) throw outside(path);
  const place = await confinedFile(root, real, path);
  try {
    const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
    // A pipe would keep the open call waiting.
    const file = await open(join(place.folder, place.name), O_RDONLY | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0));
    if ((await file.stat()).isFile()) return file;
    await file.close();
    throw new OutsideError(`${path} is not a file`);
  } finally {
    await place.close();
  }
}

/**
 * Where a file below `root` may be written: its folder is made where it is missing, and held open until `close`.
 * @param root without symbolic links
 * @throws OutsideError
 */
export async function openConfinedFolder(root: string, path: string): Promise<ConfinedFile> {
  const requestedPath = absolute(root, path);
  // A symbolic link is written to where it leads, if that is inside.
  const target = (await isLink(requestedPath))
    ? await realpath(requestedPath)
    : join(await madeFolder(root, requestedPath, path), basename(requestedPath));
  if (!isInside(root, target) || target === root) throw outside(path);
  return confinedFile(root, target, path);
}

/** The folder of a wanted file, without symbolic links; made where it is missing. */
async function madeFolder(root: string, target: string, path: string): Promise<string> {
  const missing: string[] = [];
  let folder = dirname(target);
  for (;;) {
    const real = await realpath(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    });
    if (real !== null) {
      if (!isInside(root, real)) throw outside(path);
      const newPath = join(real, ...missing);
      if (missing.length > 0) await mkdir(newPath, { recursive: true });
      return newPath;
    }
    missing.unshift(basename(folder));
    folder = dirname(folder);
  }
}

async function isLink(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => null);
  return stats?.isSymbolicLink() ?? false;
}

function absolute(root: string, path: string): string {
  if (path === '' || path.includes('\0')) throw new OutsideError('the path is empty or has a null character');
  return resolve(root, path);
}

function outside(path: string): OutsideError {
  return new OutsideError(`${path} is outside of the folder of this session`);
}

/**
 * Holds a file's folder open. On Linux the folder is then named by its descriptor, so that nothing on the way can be
 * exchanged for a symbolic link between the check and the use; elsewhere it is checked once more.
 */
async function confinedFile(root: string, real: string, path: string): Promise<ConfinedFile> {
  const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;
  const parent = dirname(real);
  if (process.platform === 'win32') {
    return { folder: parent, name: basename(real), close: async () => {} };
  }
  const folder = await open(parent, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  const close = () => folder.close();
  try {
    const descriptor = `/proc/self/fd/${folder.fd}`;
    const openPath = await readlink(descriptor).catch(() => null);
    if (openPath !== null) {
      if (!isInside(root, openPath)) throw outside(path);
      return { folder: descriptor, name: basename(real), close };
    }
    const [now, opened] = await Promise.all([stat(await realpath(parent)), folder.stat()]);
    if (now.ino !== opened.ino || now.dev !== opened.dev || !isInside(root, await realpath(parent)))
      throw outside(path);
    return { folder: parent, name: basename(real), close };
  } catch (error) {
    await close();
    throw error;
  }
}
