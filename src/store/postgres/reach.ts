import { setTimeout as delay } from 'node:timers/promises';
import type { Patience } from '../database.ts';
import { isOutage, reasonOf } from './failure.ts';

const AGAIN_MS = 500;

/**
 * Asks until the server answers, or the time is over.
 * @param ask must end by itself
 * @throws what `ask` throws: at once when the server is there and refuses, and last when it stays away
 */
export async function whenReachable<T>(
  ask: () => Promise<T>,
  { forMs, onWait, signal }: Patience,
): Promise<T> {
  const until = performance.now() + forMs;
  for (let tries = 1; ; tries += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!isOutage(error) || performance.now() >= until || signal?.aborted === true) throw error;
      if (tries === 1) onWait(reasonOf(error));
      await delay(AGAIN_MS, undefined, signal === undefined ? {} : { signal }).catch(() => {});
    }
  }
}
