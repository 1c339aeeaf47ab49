import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The program of a worker: `worker.ts` beside this folder, or what was built of it. */
export function workerFile(): string {
  return fileURLToPath(
    new URL(`../worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url),
  );
}

/**
 * Tells one build from another: of a built program the file names all others that it loads by what is in them. Null while there is
 * no such file, as in the middle of an update.
 */
export function buildOnDisk(): string | null {
  try {
    return hash('sha256', readFileSync(workerFile()), 'hex');
  } catch {
    return null;
  }
}
