import { useSyncExternalStore } from 'react';
import { dashboardPath } from '../../lib/base-path.ts';

/** The gateway key that pays for the playground, for as long as this window is open. */
const listeners = new Set<() => void>();
const storageKey = () => `modelgate.playground-key:${dashboardPath()}`;

export function keepKey(key: string | null): void {
  if (key === null) sessionStorage.removeItem(storageKey());
  else sessionStorage.setItem(storageKey(), key);
  for (const listener of listeners) listener();
}

export function usePlaygroundKey(): string | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => sessionStorage.getItem(storageKey()),
  );
}
