import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { GatewayError } from '../lib/error.ts';
import { isBusy } from './result-code.ts';

export interface Lock {
  release(): void;
}

export interface Owner {
  pid: number;
  url: string;
}

/**
 * Makes this process the one owner of a data directory. An exclusive transaction on a small file of its own is
 * held for as long as the process lives, so the system drops it even after SIGKILL.
 * @param owner who is running there as far as known, for the message
 * @throws GatewayError that names the owner, or what keeps the file from being locked
 */
export async function acquireDataDir(dataDir: string, owner: () => Owner | null = () => null): Promise<Lock> {
  const lock = tryLock(join(dataDir, 'owner.lock'));
  if (lock !== null) return lock;
  throw new GatewayError(
    'invalid_request',
    `The data directory ${dataDir} is in use by ${named(owner)}: stop that gateway, or choose another directory with --data-dir or DATA_DIR`,
    { cause: 'the lock is held' },
  );
}

/**
 * Holds a lock on a file of its own, made when there is none, until it is released or the process ends, however it
 * ends. Null when another holder, in this process or another one, has it. Never waits.
 * @throws GatewayError when the file cannot be locked
 */
export function tryLock(path: string): Lock | null {
  let database: DatabaseSync | null = null;
  try {
    const opened = new DatabaseSync(path, { timeout: 0 });
    database = opened;
    chmodSync(path, 0o600);
    opened.exec('begin exclusive');
    return { release: () => opened.close() };
  } catch (error) {
    database?.close();
    if (isBusy(error)) return null;
    throw new GatewayError('internal_error', `${path} cannot be locked: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

function named(owner: () => Owner | null): string {
  try {
    const currentOwner = owner();
    if (currentOwner !== null) return `another gateway (pid ${currentOwner.pid}, ${currentOwner.url})`;
  } catch {
    // Whoever it is, the directory is in use.
  }
  return 'another gateway';
}
