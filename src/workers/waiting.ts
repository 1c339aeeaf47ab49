/** The longest that a timer takes. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** What a promise gives, or what `late` says once so many milliseconds have passed. */
export function withinLimit<T>(promise: Promise<T>, ms: number, late: () => T | Promise<T>): Promise<T> {
  const { promise: first, reject, resolve } = Promise.withResolvers<T>();
  const timer = setTimeout(() => resolve(late()), Math.min(ms, LONGEST_TIMER_MS));
  promise.then(resolve, reject).finally(() => clearTimeout(timer));
  return first;
}

/** Waits until all workers have told what they had to tell when it was asked for, once for all who wait at the same time. */
export function createBarrier(flush: () => Promise<void>): { wait(): Promise<void> } {
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  const run = (): Promise<void> => {
    const flushed = flush().finally(() => {
      if (running === flushed) running = null;
    });
    running = flushed;
    return flushed;
  };
  return {
    wait() {
      if (running === null) return run();
      // One that is under way may have passed the worker that matters.
      next ??= running.then(() => {
        next = null;
        return run();
      });
      return next;
    },
  };
}
