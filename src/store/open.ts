import { type OpenStoreOptions, openStore, type Store, type StoreOnServerOptions } from './database.ts';

export interface StorePlace {
  dataDir: string;
  /** DATABASE_URL; null: the file in the data directory. */
  database: string | null;
}

/**
 * Opens the state of a gateway, wherever that is, and brings its schema up to date.
 * @throws GatewayError as `openStore` and `openPostgresStore` do
 */
export async function openStoreAt(
  { database, dataDir }: StorePlace,
  options: OpenStoreOptions & StoreOnServerOptions = {},
): Promise<Store> {
  if (database === null) return openStore(dataDir, options);
  // Loaded only where it is used: a start must not wait for it.
  const { openPostgresStore } = await import('./postgres/store.ts');
  return openPostgresStore(database, { ...options, dataDir });
}
