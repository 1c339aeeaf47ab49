import { limitedKeys } from '../../../src/budgets/key-limits.ts';
import { newConnectionOf } from '../../../src/connections/checked-input.ts';
import { usableStorageKey } from '../../../src/connections/credentials/storage-key.ts';
import { connectionStore } from '../../../src/connections/store.ts';
import { shownRequests } from '../../../src/ledger/entry-row.ts';
import { type RecentQuery, recentRequests } from '../../../src/ledger/report.ts';
import { readRunFile } from '../../../src/run-file.ts';
import type { Store } from '../../../src/store/database.ts';
import { openStoreAt } from '../../../src/store/open.ts';
import type { ConnectionInput, LedgerLine } from './gateway.ts';

/** A data directory, and the storage key and the database in the environment of its gateway where there are such. */
export interface DataDir {
  dataDir: string;
  secret: string | null;
  database?: string | null;
}

/** Does `work` with the database as a command does, beside a gateway or without one, and without a process of its own. */
async function withStore<T>(
  { database = null, dataDir }: DataDir,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const store = await openStoreAt({ dataDir, database }, { follow: false });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** `gateway keys add NAME`. @returns the key */
export function addKey(place: DataDir, name: string): Promise<string> {
  return withStore(place, async (store) => (await limitedKeys(store, Date.now).create({ name })).key);
}

/** `gateway provider add` for each. */
export function addConnections(place: DataDir, inputs: readonly ConnectionInput[]): Promise<void> {
  return withStore(place, async (store) => {
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
export function ledgerLines(place: DataDir, query: RecentQuery): Promise<LedgerLine[]> {
  return withStore(place, async (store) => shownRequests(store, await recentRequests(store, query)));
}
