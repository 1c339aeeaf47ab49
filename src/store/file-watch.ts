import { statSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { isCorrupt } from './result-code.ts';

/** Whether the file of an open database is still the one that was opened, and sound as far as is known. */
export interface FileWatch {
  /** What is wrong with it, in words without the path; null when nothing is. */
  fault(): string | null;
  /** Looks at the file. Never rejects. */
  look(): Promise<void>;
  /** Remembers damage that an error of SQLite tells of. */
  noteError(error: unknown): void;
  noteDamage(what: string): void;
}

/** "Database File Format" (sqlite.org), 1.3.1. */
const HEADER = 'SQLite format 3\0';

export function watchDatabaseFile(path: string): FileWatch {
  const opened = statSync(path);
  let damage: string | null = null;
  let file: string | null = null;
  const noteDamage = (what: string) => {
    damage ??= `is damaged: ${what}`;
  };
  return {
    fault: () => file ?? damage,
    noteDamage,
    noteError(error) {
      if (isCorrupt(error)) noteDamage((error as Error).message);
    },
    async look() {
      file = await fileFault(path, opened);
    },
  };
}

async function fileFault(path: string, opened: { dev: number; ino: number }): Promise<string | null> {
  try {
    const { dev, ino, size } = await stat(path);
    // What is written goes to the file that was opened, which nobody else finds any more.
    if (dev !== opened.dev || ino !== opened.ino) return 'was replaced by another file';
    if (size === 0) return 'was emptied';
    return (await headerOf(path)) === HEADER ? null : 'was overwritten';
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? 'was removed' : `cannot be looked at (${code})`;
  }
}

async function headerOf(path: string): Promise<string> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER.length), 0, HEADER.length, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } finally {
    await file.close();
  }
}
