import { DatabaseSync } from 'node:sqlite';
import { databasePath, type Store } from './database.ts';
import { createLockWait } from './lock-wait.ts';
import type { StorePlace } from './open.ts';
import { kyselyOver } from './sqlite.ts';
import type { Tables } from './tables.ts';

/** The state of a gateway for a process that reads settings and writes nothing. */
export interface SettingsView extends Pick<Store, 'db' | 'kind' | 'revision'> {
  close(): Promise<void>;
}

/**
 * Opens what the owner of a data directory has opened and migrated before, to read it.
 * @param onOutage called when a database server stops to answer, and, with null, when it does again
 * @throws the database's error; GatewayError as `openPostgresStore` does
 */
export async function openSettingsView(
  { database, dataDir }: StorePlace,
  onOutage: (outage: { message: string } | null) => void,
): Promise<SettingsView> {
  if (database !== null) {
    const { openPostgresStore } = await import('./postgres/store.ts');
    return openPostgresStore(database, { create: false, onOutage });
  }
  const path = databasePath(dataDir);
  const file = new DatabaseSync(path, { readOnly: true, timeout: 0 });
  const db = kyselyOver<Tables>(file, createLockWait({ path }));
  const revisionRow = file.prepare('select value from revision');
  return {
    kind: 'sqlite',
    db,
    revision: () => Number(revisionRow.get()?.['value'] ?? 0),
    close: () => db.destroy(),
  };
}
