import { parentPort, workerData } from 'node:worker_threads';
import { sql } from 'kysely';
import { type ErrorCode, GatewayError } from '../lib/error.ts';
import { databasePath, openStore, type Store } from '../store/database.ts';
import { copyStore } from '../store/move/copy.ts';
import { refuseUnfinishedMove } from '../store/move/move.ts';
import { movedTables } from '../store/move/tables.ts';
import { postgresAddress } from '../store/postgres/address.ts';
import { inSnapshot } from '../store/postgres/snapshot.ts';
import { databaseFault } from './snapshot.ts';

/** The thread that copies a database on a server to a file: for a large one it works for minutes. */

export interface CopyThreadInput {
  /** DATABASE_URL. */
  url: string;
  /** What the gateway is called whose own rows are copied. */
  node: string;
  /** Where the file is made. */
  folder: string;
}

/** The last message is `done` or `failed`. */
export type CopyThreadMessage =
  | { kind: 'progress'; done: number }
  | { kind: 'done' }
  /** `code` is null for what is not a GatewayError. */
  | { kind: 'failed'; code: ErrorCode | null; message: string };

const port = parentPort;
if (port === null) throw new Error('This is no thread of its own');
const tell = (message: CopyThreadMessage) => port.postMessage(message);

try {
  await copy(workerData as CopyThreadInput);
  tell({ kind: 'done' });
} catch (error) {
  const code = error instanceof GatewayError ? error.code : null;
  tell({ kind: 'failed', code, message: error instanceof Error ? error.message : String(error) });
}

async function copy({ folder, node, url }: CopyThreadInput): Promise<void> {
  const to = await openStore(folder);
  try {
    await inSnapshot(postgresAddress(url), async (db) => {
      await refuseUnfinishedMove({ db });
      const whole = 2 * (await roughCount(db));
      await copyStore({
        from: { db, node, latestRevision: () => revisionOf(db) },
        to,
        progress: (rows) => tell({ kind: 'progress', done: Math.min(1, rows / whole) }),
      });
    });
  } finally {
    await to.close();
  }
  const fault = databaseFault(databasePath(folder));
  if (fault !== null) throw new Error(`the copy of the database is damaged: ${fault}`);
}

async function revisionOf(db: Store['db']): Promise<number> {
  const row = await db.selectFrom('revision').select('value').executeTakeFirst();
  return Number(row?.value ?? 0);
}

/** How many rows there are to copy, as the server reckons; at least 1. */
async function roughCount(db: Store['db']): Promise<number> {
  const names = sql.join(movedTables.map(({ name }) => sql.lit(name)));
  const { rows } = await sql<{ count: number | null }>`
    select sum(greatest(reltuples, 0))::bigint as count from pg_class
    where relnamespace = current_schema()::regnamespace and relkind = 'r'
      and (relname in (${names}) or relname like 'requests\\_%')`.execute(db);
  return Math.max(1, Number(rows[0]?.count ?? 0));
}
