import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Kysely } from 'kysely';
import { GatewayError } from '../lib/error.ts';
import { createCheckpointer } from './checkpoint.ts';
import { migrate } from './migrate.ts';
import { kyselyOver, openDatabase } from './sqlite.ts';
import type { Tables } from './tables.ts';

export type Value = string | number | null;

/** The state of one gateway. */
export interface Store {
  kind: 'sqlite';
  db: Kysely<Tables>;
  /**
   * Writes `rows` in one transaction, leaving out those whose primary key exists. False: another process is
   * writing just now, nothing was written, try again. Never waits.
   * @throws the database's error, e.g. for a full disk
   */
  insertMany(table: keyof Tables, columns: readonly string[], rows: readonly (readonly Value[])[]): boolean;
  /** Counts the changes of keys, connections, users and settings, by whichever process. Cheap to ask. */
  revision(): number;
  close(): Promise<void>;
}

export interface OpenStoreOptions {
  /** Whether a missing database is created. Default true. */
  create?: boolean;
  /** Milliseconds since the epoch. */
  now?: () => number;
  /** Told of a checkpoint that failed; it is tried again later. */
  onError?: (error: unknown) => void;
}

const SQLITE_BUSY = 5;

export function databasePath(dataDir: string): string {
  return join(dataDir, 'modelgate.db');
}

/**
 * Opens the database of a data directory and brings its schema up to date.
 * @throws GatewayError when there is none and `create` is false, when it is damaged, or when a newer version wrote it
 */
export async function openStore(dataDir: string, options: OpenStoreOptions = {}): Promise<Store> {
  const { create = true, now = Date.now, onError = () => {} } = options;
  const path = databasePath(dataDir);
  if (!existsSync(path)) {
    if (!create)
      throw new GatewayError(
        'not_found',
        `There is no database at ${path}: start with \`gateway setup\` or \`gateway serve\``,
      );
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    // Created empty first, so that it never exists with wider permissions.
    writeFileSync(path, '', { mode: 0o600, flag: 'a' });
  }
  const main = openOrExplain(path, 5000);
  const db = kyselyOver<Tables>(main);
  try {
    await migrate(main, db, { dataDir, now });
  } catch (error) {
    main.close();
    throw damaged(path, error);
  }
  for (const file of [path, `${path}-wal`, `${path}-shm`]) if (existsSync(file)) chmodSync(file, 0o600);
  const writing = openDatabase(path, { busyMs: 0 });
  const checkpointer = createCheckpointer(path, onError);
  const revision = main.prepare('select value from revision');
  return {
    kind: 'sqlite',
    db,
    insertMany: inserter(writing, () => checkpointer.consider()),
    revision: () => Number(revision.get()?.['value'] ?? 0),
    async close() {
      await checkpointer.settled();
      writing.close();
      // The last connection to close folds the log into the database.
      await db.destroy();
    },
  };
}

/** Batches between two looks at the size of the log. */
const BATCHES_PER_LOOK = 64;

function inserter(database: DatabaseSync, consider: () => void): Store['insertMany'] {
  const statements = new Map<string, StatementSync>();
  let batches = 0;
  return (table, columns, rows) => {
    if (!began(database)) return false;
    try {
      const name = `${table}(${columns.join()})`;
      let insert = statements.get(name);
      if (insert === undefined) {
        const marks = columns.map(() => '?').join();
        insert = database.prepare(`insert or ignore into ${table} (${columns.join()}) values (${marks})`);
        statements.set(name, insert);
      }
      for (const row of rows) insert.run(...row);
      database.exec('commit');
    } catch (error) {
      if (database.isTransaction) database.exec('rollback');
      if (isBusy(error)) return false;
      throw error;
    }
    batches += 1;
    if (batches % BATCHES_PER_LOOK === 0) consider();
    return true;
  };
}

function began(database: DatabaseSync): boolean {
  try {
    database.exec('begin immediate');
    return true;
  } catch (error) {
    if (isBusy(error)) return false;
    throw error;
  }
}

/** The primary result code stands in the low byte (sqlite.org, "Result and Error Codes"). */
function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === SQLITE_BUSY;
}

function openOrExplain(path: string, busyMs: number): DatabaseSync {
  try {
    return openDatabase(path, { busyMs });
  } catch (error) {
    throw damaged(path, error);
  }
}

function damaged(path: string, error: unknown): Error {
  if (error instanceof GatewayError) return error;
  return new GatewayError(
    'internal_error',
    `The database ${path} cannot be used: ${String(error)}. It was left as it is; move it away to start afresh, or put back a copy from the backups folder`,
    { cause: error },
  );
}
