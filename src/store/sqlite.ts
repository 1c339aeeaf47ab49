import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { Kysely, type SqliteDatabase, SqliteDialect } from 'kysely';

/** A Kysely instance over one connection of `node:sqlite`, which both Node lines bring along. */
export function kyselyOver<Tables>(database: DatabaseSync): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: new SqliteDialect({ database: adapter(database) }) });
}

/** Kysely's SQLite dialect expects statements of this shape. */
function adapter(database: DatabaseSync): SqliteDatabase {
  return {
    close: () => database.close(),
    prepare(sql) {
      const statement = database.prepare(sql);
      return {
        reader: statement.columns().length > 0,
        all: (parameters) => statement.all(...values(parameters)),
        run: (parameters) => {
          const { changes, lastInsertRowid } = statement.run(...values(parameters));
          return { changes, lastInsertRowid };
        },
        iterate: (parameters) => statement.iterate(...values(parameters)) as IterableIterator<unknown>,
      };
    },
  };
}

/** Kysely passes what queries hold, and the tables hold nothing but text, bytes, numbers and null. */
function values(parameters: readonly unknown[]): SQLInputValue[] {
  return parameters as SQLInputValue[];
}

export interface OpenOptions {
  /** Milliseconds to wait for another writer before `SQLITE_BUSY`. Waiting blocks the event loop. */
  busyMs: number;
}

/**
 * A log that was folded into the database is cut down to this size when it is begun anew, so that its size on disk
 * says how much is still to be folded.
 */
const LOG_KEPT_BYTES = 1024 * 1024;

/**
 * Opens a database file in WAL mode. The checkpoint, which waits for the disk, is left to `checkpoint.ts`. What is
 * deleted is overwritten: a credential or a conversation must not stay readable in a free page.
 */
export function openDatabase(path: string, { busyMs }: OpenOptions): DatabaseSync {
  // Whatever has to be read or switched at first may wait for another process that does the same.
  const database = new DatabaseSync(path, { enableForeignKeyConstraints: true, timeout: OPENING_MS });
  try {
    database.exec(
      `pragma journal_mode = wal; pragma synchronous = normal; pragma wal_autocheckpoint = 0; pragma journal_size_limit = ${LOG_KEPT_BYTES}; pragma secure_delete = on`,
    );
    database.exec(`pragma busy_timeout = ${busyMs}`);
  } catch (error) {
    database.close();
    throw error;
  }
  return database;
}

const OPENING_MS = 5000;
const SQLITE_BUSY = 5;

/** SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_TOOBIG, SQLITE_RANGE. */
const rowFaults: readonly number[] = [19, 20, 18, 25];

/** Another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  return resultCode(error) === SQLITE_BUSY;
}

/** The database is sound and the values are not: a constraint, a size, or a type that cannot be stored. */
export function isRowFault(error: unknown): boolean {
  const code = resultCode(error);
  if (code !== null) return rowFaults.includes(code);
  return error instanceof TypeError || error instanceof RangeError;
}

/** The primary result code stands in the low byte (sqlite.org, "Result and Error Codes"). */
function resultCode(error: unknown): number | null {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : null;
}
