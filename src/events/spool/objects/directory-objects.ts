import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readdir, readFile, rename, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { NoSpace } from '../log/segments.ts';
import type { ObjectStore } from './object-store.ts';

/** Objects as files of a folder, which another machine may serve (NFS, SMB). A file is whole under its name, or not there. */
export function directoryObjects(folder: string): ObjectStore {
  const pathOf = (key: string) => join(folder, key);
  /** Writes a file beside the one that is meant, and moves it there. */
  const written = async <T>(path: string, bytes: Buffer, move: (from: string) => Promise<T>): Promise<T> => {
    const beside = `${path}.${randomUUID()}`;
    try {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const file = await open(beside, 'wx', 0o600);
      await file
        .writeFile(bytes)
        .then(() => file.sync())
        .finally(() => file.close());
      const moved = await move(beside);
      await syncFolder(dirname(path));
      return moved;
    } catch (error) {
      const code = codeOf(error);
      throw code === 'ENOSPC' || code === 'EDQUOT' ? new NoSpace('There is no space left') : error;
    } finally {
      await unlink(beside).catch(() => {});
    }
  };
  return {
    async list(prefix) {
      const names = await readdir(pathOf(prefix)).catch(ifMissing<string[]>([]));
      return names
        .filter((name) => !/\.[0-9a-f-]{36}$/.test(name))
        .sort()
        .map((name) => `${prefix}${name}`);
    },
    get: (key) => readFile(pathOf(key)).catch(ifMissing(null)),
    create: (key, bytes) =>
      written(pathOf(key), bytes, (from) =>
        // A link is made at most once, also over NFS.
        link(from, pathOf(key)).then(
          () => 'created' as const,
          (error: unknown) => {
            if (codeOf(error) === 'EEXIST') return 'exists' as const;
            throw error;
          },
        ),
      ),
    put: (key, bytes) => written(pathOf(key), bytes, (from) => rename(from, pathOf(key))),
    remove: (key) => unlink(pathOf(key)).catch(ifMissing(undefined)),
    close: async () => {},
  };
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : null);

function ifMissing<T>(instead: T): (error: unknown) => T {
  return (error) => {
    if (codeOf(error) === 'ENOENT') return instead;
    throw error;
  };
}
