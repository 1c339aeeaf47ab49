import { noteKey } from '../connections/credentials/storage-key.ts';
import { GatewayError } from '../lib/error.ts';
import { openStore, type Store } from '../store/database.ts';
import { type MoveInput, moveStore, targetState } from '../store/move/move.ts';
import { inspectPostgres } from '../store/postgres/inspect.ts';
import { openPostgresStore } from '../store/postgres/store.ts';
import { refuseRunningNodes } from '../store/running-nodes.ts';

export interface ServerTarget {
  /** DATABASE_URL. */
  url: string;
  /** The data directory of this gateway, which the backup's rows of one gateway are given to. */
  dataDir: string;
  /** Names the backup, so that a restore that was cut off is gone on with from the same one alone. */
  source: string;
  /** Milliseconds since the epoch. */
  now: number;
}

/**
 * Refuses a database that a backup cannot be restored into, before anything is changed.
 * @returns where it is, without a password
 * @throws GatewayError when a gateway runs on it, when it has rows, when another program or a newer version wrote it, and when its
 *   server does not answer
 */
export async function refuseTarget(target: ServerTarget): Promise<string> {
  const { empty, place } = await inspectPostgres(target.url);
  if (empty) return place;
  await withTarget(target, async (store) => {
    await refuseRunningNodes(store.db, place, target.now);
    const state = await targetState(store);
    if (state.kind === 'filled') throw filled(place, `its table ${state.table} has rows`);
    if (state.kind === 'unfinished' && state.source !== target.source)
      throw filled(place, `it has a part of ${state.source}`);
  });
  return place;
}

export interface FillInput extends ServerTarget {
  /** The folder with the database of the backup. */
  from: string;
  place: string;
  /** The name of the key that the backup's credentials are encrypted with, where that is in force here; else null. */
  keyName: string | null;
  progress: MoveInput['progress'];
}

/**
 * Copies the database of a backup into one on a server, and compares each row. When it is cut off, no gateway starts on that database
 * until it was repeated to its end.
 * @throws GatewayError as `refuseTarget` and `moveStore` do
 */
export async function fillServer({ from: folder, keyName, progress, ...target }: FillInput): Promise<void> {
  const from = await openStore(folder, { create: false });
  try {
    await withTarget(target, async (to) => {
      await moveStore({
        from,
        to,
        source: target.source,
        progress,
        // One that started just before the mark has made its entry by now, or sees the mark.
        onMarked: () => refuseRunningNodes(to.db, target.place, target.now),
      });
      // No gateway with another key is the first, then.
      if (keyName !== null) await noteKey(to.db, keyName);
    });
  } finally {
    await from.close();
  }
}

async function withTarget(
  { dataDir, url }: ServerTarget,
  work: (store: Store) => Promise<void>,
): Promise<void> {
  const store = await openPostgresStore(url, { dataDir, follow: false });
  try {
    await work(store);
  } finally {
    await store.close();
  }
}

function filled(place: string, what: string): GatewayError {
  return new GatewayError(
    'conflict',
    `The database ${place} is not empty: ${what}. Nothing was changed. Restore into a new one, which keeps this one as it is: \`createdb NAME\`, and its name in DATABASE_URL. To give this one up, with all gateways stopped, drop it and create it again: \`dropdb NAME\`, \`createdb NAME\``,
  );
}
