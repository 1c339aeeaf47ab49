import { setTimeout as delay } from 'node:timers/promises';
import { GatewayError } from '../lib/error.ts';
import { isBusy } from './result-code.ts';

export interface LockWaitOptions {
  /** The database, for messages. */
  path: string;
  /** Milliseconds until waiting is given up. Default 15,000. */
  waitMs?: number;
  /** Called once for each wait that lasts longer than a second. */
  onWait?: () => void;
  /** Called with every other error that an attempt ends with. */
  onError?: (error: unknown) => void;
}

/** Waits, without holding up the thread, while another process has locked the database. */
export interface LockWait {
  /**
   * Runs `attempt` until it finds the database free.
   * @throws GatewayError `database_busy` when it stays locked, and whatever else `attempt` throws
   */
  retry<T>(attempt: () => T | Promise<T>): Promise<T>;
}

const WAIT_MS = 15_000;
const LONG_MS = 1000;
const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 50;

export function createLockWait(options: LockWaitOptions): LockWait {
  const { onError = () => {}, onWait = () => {}, path, waitMs = WAIT_MS } = options;
  return {
    async retry(attempt) {
      const began = performance.now();
      let told = false;
      for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
        try {
          return await attempt();
        } catch (error) {
          if (!isBusy(error)) {
            onError(error);
            throw error;
          }
          const waited = performance.now() - began;
          if (waited >= waitMs) throw databaseBusy(path, waited, error);
          if (!told && waited >= LONG_MS) {
            told = true;
            onWait();
          }
        }
        await delay(pause);
      }
    },
  };
}

function databaseBusy(path: string, waitedMs: number, cause: unknown): GatewayError {
  return new GatewayError(
    'database_busy',
    `Another process has kept the database ${path} locked for ${Math.round(waitedMs / 1000)} seconds, so nothing was changed: end that process, or try again later`,
    { retryAfter: 5, cause },
  );
}
