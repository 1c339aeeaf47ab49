import { useSyncExternalStore } from 'react';

/** The time, which moves every ten seconds: for "5 minutes ago" on the whole page at once. */
const STEP_MS = 10_000;

/** One timer for all of them: a long table has hundreds. */
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    for (const each of listeners) each();
  }, STEP_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Milliseconds since the epoch, to ten seconds. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => Math.floor(Date.now() / STEP_MS) * STEP_MS);
}
