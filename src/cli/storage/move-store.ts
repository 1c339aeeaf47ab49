import { existsSync } from 'node:fs';
import { GatewayError } from '../../lib/error.ts';
import { makeFolder } from '../../lib/files/folder.ts';
import { databasePath, type Store } from '../../store/database.ts';
import { acquireDataDir, type Owner } from '../../store/lock.ts';
import { type MovedRows, moveStore } from '../../store/move/move.ts';
import { openStoreAt } from '../../store/open.ts';
import { postgresAddress } from '../../store/postgres/address.ts';
import { refuseRunningNodes } from '../../store/running-nodes.ts';
import { refuseWaitingRecords } from './waiting-records.ts';

export interface MoveStoreInput {
  dataDir: string;
  direction: 'to postgres' | 'to sqlite';
  /** The address of the server. */
  url: string;
  /** Milliseconds since the epoch. */
  now(): number;
  owner(): Owner | null;
  progress(table: string, rows: number, done: boolean): void;
}

export interface MovedStore {
  from: string;
  to: string;
  tables: MovedRows;
}

/**
 * Copies the state of a data directory to a server, or back, while no gateway runs.
 * @throws GatewayError when one runs, when there is nothing to copy, when records wait on the disk, and as `moveStore` does
 */
export async function moveStoreTo(input: MoveStoreInput): Promise<MovedStore> {
  const { dataDir, direction, now, owner, progress, url } = input;
  const file = databasePath(dataDir);
  const { place } = postgresAddress(url);
  if (direction === 'to postgres' && !existsSync(file))
    throw new GatewayError('not_found', `There is no database at ${file}, so nothing to move`);
  makeFolder(dataDir);
  const lock = await acquireDataDir(dataDir, owner);
  const opened: Store[] = [];
  try {
    refuseWaitingRecords(dataDir, 'so that they are moved too');
    const open = async (database: string | null, create: boolean): Promise<Store> => {
      const store = await openStoreAt({ dataDir, database }, { create, follow: false });
      opened.push(store);
      return store;
    };
    const toServer = direction === 'to postgres';
    const server = await open(url, toServer);
    await refuseRunningNodes(server.db, place, now());
    const local = await open(null, true);
    const [from, to] = toServer ? [local, server] : [server, local];
    const source = toServer ? file : place;
    const tables = await moveStore({ from, to, source, progress });
    return { from: source, to: toServer ? place : file, tables };
  } finally {
    for (const store of opened) await store.close();
    lock.release();
  }
}
