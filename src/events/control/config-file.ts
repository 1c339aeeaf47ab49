import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { writeFileWhole } from '../../tools/configuring/write-file.ts';

const CONFIG_FILE = 'events.yaml';
/** A file that changed must stay the same for so long: editors and copies write in several steps. */
const SETTLED_MS = 200;

/** `events.yaml` of a data directory. */
export interface ConfigFile {
  readonly path: string;
  /** @returns null when there is none. @throws the system's error when it cannot be read */
  read(): Promise<string | null>;
  /** Replaces it in one step. A link stays one. @throws the system's error */
  write(text: string): Promise<void>;
  /** Whether the file is another than when this was last asked, and is written to its end. */
  changed(): Promise<boolean>;
}

export function configFile(dataDir: string): ConfigFile {
  const path = join(dataDir, CONFIG_FILE);
  let seen: string | null = null;
  return {
    path,
    async read() {
      seen = await signatureOf(path);
      try {
        return await readFile(path, 'utf8');
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
        throw error;
      }
    },
    async write(text) {
      await writeFileWhole(path, Buffer.from(text), await modeOf(path));
      // It is read once more: somebody else may have written right behind.
      seen = null;
    },
    async changed() {
      let signature = await signatureOf(path);
      if (signature === seen) return false;
      for (let before: string | null = null; before !== signature; ) {
        before = signature;
        await delay(SETTLED_MS, undefined, { ref: false });
        signature = await signatureOf(path);
      }
      const changed = signature !== seen;
      seen = signature;
      return changed;
    },
  };
}

/** What differs when a file was written, replaced or removed. */
async function signatureOf(path: string): Promise<string> {
  try {
    const { ctimeMs, ino, mtimeMs, size } = await stat(path);
    return [ino, size, mtimeMs, ctimeMs].join(' ');
  } catch (error) {
    return String(error instanceof Error && 'code' in error ? error.code : error);
  }
}

async function modeOf(path: string): Promise<number> {
  const stats = await stat(path).catch(() => null);
  return stats === null ? 0o600 : stats.mode & 0o777;
}
