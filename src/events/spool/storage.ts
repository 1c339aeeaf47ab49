import type { Source, Storage } from '../config/config.ts';
import { defaultBytes } from '../config/storage.ts';

/** Where the events of a source wait. An asynchronous one always has a place: memory, when nothing else is said. */
export function storageOf({ asyncSend, storage }: Source): Storage | null {
  return storage ?? (asyncSend ? { type: 'memory', bytes: defaultBytes.memory, whenFull: 'block' } : null);
}
