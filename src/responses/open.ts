import type { NamedKey } from '../connections/credentials/seal.ts';
import type { Schedule } from '../lib/time/schedule.ts';
import type { Store } from '../store/database.ts';
import { createWriter } from '../store/writer.ts';
import { placeStore, type ResponsePlaces } from './places.ts';
import { createResponseEncryption } from './row.ts';
import { responseStore } from './store.ts';
import type { ResponseMemory } from './stored.ts';

/** How often expired and surplus responses are deleted. */
const SWEEP_MS = 60 * 60 * 1000;
/** Rows of one transaction, and rows kept while the database cannot be written: each may have megabytes. */
const WRITER = { maxRows: 10, maxPending: 200 };

export interface OpenResponses {
  memory: ResponseMemory;
  places: ResponsePlaces;
  /** Writes what is left and stops. @throws when rows could not be written */
  close(): Promise<void>;
}

export interface OpenResponsesInput {
  store: Pick<Store, 'db' | 'insertMany'>;
  schedule: Pick<Schedule, 'every'>;
  key: NamedKey;
  retentionDays: number;
  maxBytes: number;
  onError(error: unknown, lost: number): void;
}

/**
 * The stored responses of a running gateway, with a writer of their own so that the ledger never waits for them.
 * `schedule` runs the deleting of expired and surplus responses, which comes first at once; `onError` is called with what
 * could not be written or deleted, and of how many responses were lost so far.
 */
export function openResponses(input: OpenResponsesInput): OpenResponses {
  const { key, maxBytes, onError, retentionDays, schedule, store } = input;
  const writer = createWriter(store, { ...WRITER, onError });
  const memory = responseStore(store, writer, {
    sealing: createResponseEncryption(key),
    retentionDays,
    maxBytes,
  });
  const places = placeStore(store, writer, { stored: retentionDays > 0 });
  let sweeping: Promise<unknown> = Promise.resolve();
  const sweep = (): Promise<unknown> => {
    const swept = memory.sweep().then(places.sweep);
    sweeping = swept.catch(() => {});
    return swept;
  };
  const failed = (error: unknown) => onError(error, 0);
  sweep().catch(failed);
  const stop = schedule.every({ name: 'old responses', everyMs: SWEEP_MS, run: sweep, onError: failed });
  return {
    memory,
    places,
    async close() {
      stop();
      await sweeping;
      await writer.stop();
    },
  };
}
