import { useSyncExternalStore } from 'react';

/** The time, which moves every ten seconds: for "5 minutes ago" on the whole page at once. */
const STEP_MS = 10_000;

function subscribe(listener: () => void): () => void {
  const timer = setInterval(listener, STEP_MS);
  return () => clearInterval(timer);
}

/** Milliseconds since the epoch, to ten seconds. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => Math.floor(Date.now() / STEP_MS) * STEP_MS);
}
