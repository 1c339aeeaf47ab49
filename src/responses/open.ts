import type { Store } from '../store/database.ts';
import { createWriter } from '../store/writer.ts';
import { responseStore } from './store.ts';
import type { ResponseMemory } from './stored.ts';

/** How often expired and surplus responses are deleted. */
const SWEEP_MS = 60 * 60 * 1000;
/** Rows of one transaction, and rows kept while the database cannot be written: each may have megabytes. */
const WRITER = { maxRows: 10, maxPending: 200 };

export interface OpenResponses {
  memory: ResponseMemory;
  /** Writes what is left and stops. @throws when rows could not be written */
  close(): Promise<void>;
}

/**
 * The stored responses of a running gateway, with a writer of their own so that the ledger never waits for them.
 * @param onError is told of what could not be written or deleted, and of how many responses were lost so far
 */
export function openResponses(
  store: Pick<Store, 'db' | 'insertMany'>,
  onError: (error: unknown, lost: number) => void,
): OpenResponses {
  const writer = createWriter(store, { ...WRITER, onError });
  const memory = responseStore(store, writer);
  let sweeping: Promise<unknown> = Promise.resolve();
  const sweep = () => {
    sweeping = memory.sweep().catch((error: unknown) => onError(error, 0));
  };
  sweep();
  const timer = setInterval(sweep, SWEEP_MS).unref();
  return {
    memory,
    async close() {
      clearInterval(timer);
      await sweeping;
      await writer.stop();
    },
  };
}
