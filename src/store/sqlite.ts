import { DatabaseSync } from 'node:sqlite';
import { Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import { sqliteDriver } from './driver.ts';
import type { LockWait } from './lock-wait.ts';

/** A Kysely instance over one connection of `node:sqlite`, which both Node lines bring along. */
export function kyselyOver<Tables>(database: DatabaseSync, lockWait: LockWait): Kysely<Tables> {
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => sqliteDriver(database, lockWait),
      createIntrospector: (over) => new SqliteIntrospector(over),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
}

/**
 * A log that was folded into the database is cut down to this size when it is begun anew, so that its size on disk
 * says how much is still to be folded.
 */
const LOG_KEPT_BYTES = 1024 * 1024;

/**
 * Opens a database file in WAL mode. The checkpoint, which waits for the disk, is left to `checkpoint.ts`. What is
 * deleted is overwritten: a credential or a conversation must not stay readable in a free page. Never waits for a lock,
 * neither now nor later: SQLite would hold up the thread (`lock-wait.ts` does not).
 * @throws SQLite's error, which is `SQLITE_BUSY` while another process makes or recovers the database
 */
export function openDatabase(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { enableForeignKeyConstraints: true, timeout: 0 });
  try {
    database.exec(
      `pragma journal_mode = wal; pragma synchronous = normal; pragma wal_autocheckpoint = 0; pragma journal_size_limit = ${LOG_KEPT_BYTES}; pragma secure_delete = on`,
    );
  } catch (error) {
    database.close();
    throw error;
  }
  return database;
}
