import { limitedKeys } from '../../src/budgets/key-limits.ts';
import { newConnectionOf } from '../../src/connections/checked-input.ts';
import { usableStorageKey } from '../../src/connections/credentials/storage-key.ts';
import { connectionStore } from '../../src/connections/store.ts';
import { shownRequests } from '../../src/ledger/entry-row.ts';
import { type RecentQuery, recentRequests } from '../../src/ledger/report.ts';
import { readRunFile } from '../../src/run-file.ts';
import { openStore, type Store } from '../../src/store/database.ts';
import type { ConnectionInput, LedgerLine } from './gateway.ts';

/** A data directory, and the storage key in the environment of its gateway where there is one. */
export interface DataDir {
  dataDir: string;
  secret: string | null;
}

/** Does `work` with the database as a command does, beside a gateway or without one, and without a process of its own. */
async function withStore<T>(dataDir: string, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(dataDir);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** `gateway keys add NAME`. @returns the key */
export function addKey({ dataDir }: DataDir, name: string): Promise<string> {
  return withStore(dataDir, async (store) => (await limitedKeys(store, Date.now).create({ name })).key);
}

/** `gateway provider add` for each. */
export function addConnections(place: DataDir, inputs: readonly ConnectionInput[]): Promise<void> {
  return withStore(place.dataDir, async (store) => {
    const { key } = await usableStorageKey(store, place);
    const stored = connectionStore(store, key);
    for (const { apiKey = 'upstream-secret', baseUrl, name, parameters, provider } of inputs) {
      const input = {
        provider,
        name,
        api_key: apiKey,
        default_model: 'm-1',
        ...(baseUrl !== undefined && { base_url: baseUrl }),
        ...(parameters !== undefined && { base_url_parameters: parameters }),
      };
      await stored.add(newConnectionOf(input, () => readRunFile(place.dataDir)));
    }
  });
}

/** `gateway logs --json`: the latest rows, oldest first. */
export function ledgerLines({ dataDir }: DataDir, query: RecentQuery): Promise<LedgerLine[]> {
  return withStore(dataDir, async (store) => shownRequests(store, await recentRequests(store, query)));
}
