import { useSyncExternalStore } from 'react';
import { dashboardPath } from '../../lib/base-path.ts';

/** The gateway key that pays for the playground, for as long as this window is open. */
export interface PlaygroundKey {
  text: string;
  /** Of a key that was made for this window, which goes with it; null for one that somebody has. */
  id: string | null;
}

/** What keys are labeled with that were made for a window of the playground. */
export const playgroundLabel = { purpose: 'playground' } as const;

const listeners = new Set<() => void>();
const storageKey = () => `modelgate.playground-key:${dashboardPath()}`;

export function keepKey(key: PlaygroundKey | null): void {
  if (key === null) sessionStorage.removeItem(storageKey());
  else sessionStorage.setItem(storageKey(), `${key.text} ${key.id ?? ''}`.trim());
  for (const listener of listeners) listener();
}

export function usePlaygroundKey(): PlaygroundKey | null {
  const stored = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => sessionStorage.getItem(storageKey()),
  );
  if (stored === null) return null;
  const [text = '', id = null] = stored.split(' ');
  return { text, id };
}
