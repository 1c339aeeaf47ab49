import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { GatewayError } from '../lib/error.ts';

export interface Lock {
  release(): void;
}

/**
 * Makes this process the one owner of a data directory. An exclusive transaction on a small file of its own is
 * held for as long as the process lives, so the system drops it even after SIGKILL.
 * @throws GatewayError that names the owner
 */
export async function acquireDataDir(dataDir: string): Promise<Lock> {
  const path = join(dataDir, 'owner.lock');
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    chmodSync(path, 0o600);
    database.exec('begin exclusive');
  } catch (error) {
    database.close();
    throw new GatewayError(
      'invalid_request',
      `The data directory ${dataDir} is in use by ${owner(dataDir)}: stop that gateway, or choose another directory with --data-dir or DATA_DIR`,
      {
        cause: error,
      },
    );
  }
  return { release: () => database.close() };
}

/** Who holds the lock, from the run file that a gateway leaves. For a message only. */
function owner(dataDir: string): string {
  try {
    const run: unknown = JSON.parse(readFileSync(join(dataDir, 'run.json'), 'utf8'));
    if (typeof run === 'object' && run !== null && 'pid' in run && 'url' in run) {
      return `another gateway (pid ${run.pid}, ${run.url})`;
    }
  } catch {
    // No run file: the owner is just starting or stopping.
  }
  return 'another gateway';
}
