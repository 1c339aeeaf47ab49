import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { CallName } from './calls.ts';

/**
 * What has to be free when a call begins that makes the database larger. The rest is for the calls that empty it: they write
 * too, and one that cannot be carried out for want of room would keep the database full for ever.
 */
const MIN_FREE_BYTES: Readonly<Partial<Record<CallName, number>>> = {
  publish: 33_554_432,
  put: 16_777_216,
  addLetter: 16_777_216,
};

export const makesLarger = (name: CallName): boolean => name in MIN_FREE_BYTES;

/** Whether so many free bytes are enough for a call. */
export const hasRoom = (name: CallName, free: number): boolean => free >= (MIN_FREE_BYTES[name] ?? 0);

/** The room of a database file: within its own limit, and on its disk. */
export interface Room {
  /** How much may be added, in bytes. What the file has free counts: it is used before the file grows. */
  free(): number;
}

/** @param path of the file; one in memory has no disk */
export function createRoom(database: DatabaseSync, path: string): Room {
  const folder = path === ':memory:' ? null : dirname(path);
  const pragma = (name: string): number =>
    Number(Object.values(database.prepare(`pragma ${name}`).get() ?? {})[0]);
  const pageBytes = pragma('page_size');
  const mostPages = pragma('max_page_count');
  return {
    free() {
      const unused = pragma('freelist_count');
      const ofFile = (mostPages - pragma('page_count') + unused) * pageBytes;
      return folder === null ? ofFile : Math.min(ofFile, bytesFreeAt(folder) + unused * pageBytes);
    },
  };
}

function bytesFreeAt(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    // A file system that does not tell says so itself when it is full.
    return Number.POSITIVE_INFINITY;
  }
}
