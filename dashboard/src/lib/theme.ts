import { createContext, use, useSyncExternalStore } from 'react';

export type Theme = 'system' | 'light' | 'dark';

export const themes: readonly Theme[] = ['system', 'light', 'dark'];

export interface ThemeStore {
  current(): Theme;
  choose(theme: Theme): void;
  subscribe(listener: () => void): () => void;
}

const KEY = 'modelgate.theme';

/** The theme of the pages: the system's unless somebody chose, which this browser remembers. */
export function createThemeStore(root: HTMLElement, storage: Storage, dark: MediaQueryList): ThemeStore {
  const listeners = new Set<() => void>();
  const saved = storage.getItem(KEY);
  let theme: Theme = saved === 'light' || saved === 'dark' ? saved : 'system';
  const apply = () => {
    root.classList.toggle('dark', theme === 'dark' || (theme === 'system' && dark.matches));
  };
  dark.addEventListener('change', apply);
  apply();
  return {
    current: () => theme,
    choose(next) {
      theme = next;
      if (next === 'system') storage.removeItem(KEY);
      else storage.setItem(KEY, next);
      apply();
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export const ThemeContext = createContext<ThemeStore | null>(null);

export function useThemeStore(): ThemeStore {
  const store = use(ThemeContext);
  if (store === null) throw new Error('ThemeContext is missing');
  return store;
}

export function useTheme(): Theme {
  const store = useThemeStore();
  return useSyncExternalStore(store.subscribe, store.current);
}
