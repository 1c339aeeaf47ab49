import type { Storage } from '../config/config.ts';
import type { SpoolResult } from './spool.ts';

const LONGEST_TIMER_MS = 2_147_483_647;

/** The room of a storage: so many bytes, given out in the order in which they are asked for. */
export interface Room {
  /**
   * Takes so many bytes, and says `kept` when it has them.
   * @param waitMs how long to wait, where the storage blocks when it is full
   */
  take(bytes: number, waitMs: number): Promise<Exclude<SpoolResult, 'unavailable'>>;
  giveBack(bytes: number): void;
  used(): number;
  size(): number;
  /** Those who wait for more than there is now are told that it is full. */
  resize(storage: Storage): void;
  /** Nobody waits any longer. */
  close(): void;
}

interface Waiter {
  readonly bytes: number;
  settle(outcome: 'kept' | 'full'): void;
}

/** @param alreadyUsed bytes of what was there before; they may be more than fit */
export function createRoom(storage: Storage, alreadyUsed = 0): Room {
  let { bytes: size, whenFull } = storage;
  const waiters = new Set<Waiter>();
  let used = alreadyUsed;
  const letIn = () => {
    for (const waiter of waiters) {
      if (used + waiter.bytes > size) return;
      used += waiter.bytes;
      waiter.settle('kept');
    }
  };
  const wait = (bytes: number, waitMs: number) =>
    new Promise<'kept' | 'full'>((resolve) => {
      const waiter: Waiter = {
        bytes,
        settle(outcome) {
          clearTimeout(timer);
          waiters.delete(waiter);
          resolve(outcome);
        },
      };
      const timer = setTimeout(
        () => {
          waiter.settle('full');
          // Smaller ones may fit that stood behind it.
          letIn();
        },
        Math.min(waitMs, LONGEST_TIMER_MS),
      );
      waiters.add(waiter);
    });
  return {
    take(bytes, waitMs) {
      if (bytes > size) return Promise.resolve('too_large');
      if (waiters.size === 0 && used + bytes <= size) {
        used += bytes;
        return Promise.resolve('kept');
      }
      if (whenFull === 'drop') return Promise.resolve('dropped');
      return waitMs > 0 ? wait(bytes, waitMs) : Promise.resolve('full');
    },
    giveBack(bytes) {
      used -= bytes;
      letIn();
    },
    used: () => used,
    size: () => size,
    resize(next) {
      size = next.bytes;
      whenFull = next.whenFull;
      for (const waiter of waiters) if (waiter.bytes > size || whenFull === 'drop') waiter.settle('full');
      letIn();
    },
    close() {
      for (const waiter of waiters) waiter.settle('full');
    },
  };
}
