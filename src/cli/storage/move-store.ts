import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { journalFolder } from '../../ledger/journal.ts';
import { GatewayError } from '../../lib/error.ts';
import { makeFolder } from '../../lib/folder.ts';
import { databasePath, type Store } from '../../store/database.ts';
import { acquireDataDir, type Owner } from '../../store/lock.ts';
import { type Moved, moveStore } from '../../store/move/move.ts';
import { openStoreAt } from '../../store/open.ts';
import { postgresAddress } from '../../store/postgres/address.ts';
import { openOutbox, outboxPath } from '../../store/postgres/outbox.ts';

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
  tables: Moved;
}

/** A gateway that said so lately is running. */
const SEEN_MS = 60_000;

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
    refuseWaiting(dataDir);
    const open = async (database: string | null, create: boolean): Promise<Store> => {
      const store = await openStoreAt({ dataDir, database }, { create, follow: false });
      opened.push(store);
      return store;
    };
    const toServer = direction === 'to postgres';
    const server = await open(url, toServer);
    await refuseRunning(server, place, now());
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

/** Records that a gateway has left on the disk, because it was killed or its server was away, belong to the database that is moved. */
function refuseWaiting(dataDir: string): void {
  const folder = journalFolder(dataDir);
  const places = hasRecords(folder) ? [folder] : [];
  const outbox = outboxPath(dataDir);
  if (existsSync(outbox) && rowsWaiting(dataDir) > 0) places.push(outbox);
  if (places.length === 0) return;
  throw new GatewayError(
    'conflict',
    `Records of requests wait in ${places.join(' and ')}. Start the gateway once with the database that it had and stop it, so that they are moved too`,
  );
}

function hasRecords(folder: string): boolean {
  return existsSync(folder) && readdirSync(folder).some((file) => statSync(join(folder, file)).size > 0);
}

function rowsWaiting(dataDir: string): number {
  const outbox = openOutbox(dataDir);
  try {
    return outbox.waiting();
  } finally {
    outbox.close();
  }
}

async function refuseRunning({ db }: Store, place: string, now: number): Promise<void> {
  const running = await db
    .selectFrom('nodes')
    .select(['host', 'url'])
    .where('seen_at', '>', now - SEEN_MS)
    .execute();
  if (running.length === 0) return;
  const names = running.map(({ host, url }) => `${host} (${url})`).join(', ');
  throw new GatewayError(
    'conflict',
    `Gateways run on the database ${place}: ${names}. Stop them first; a gateway that crashed disappears from this list after a minute`,
  );
}
