import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
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

/** Kysely passes what queries hold, and the tables hold nothing but text, numbers and null. */
function values(parameters: readonly unknown[]): SQLInputValue[] {
  return parameters as SQLInputValue[];
}

export type { StatementSync };

export interface OpenOptions {
  /** Milliseconds to wait for another writer before `SQLITE_BUSY`. Waiting blocks the event loop. */
  busyMs: number;
}

/** Opens a database file in WAL mode. The checkpoint, which waits for the disk, is left to `checkpoint.ts`. */
export function openDatabase(path: string, { busyMs }: OpenOptions): DatabaseSync {
  const database = new DatabaseSync(path, { enableForeignKeyConstraints: true, timeout: busyMs });
  database.exec('pragma journal_mode = wal; pragma synchronous = normal; pragma wal_autocheckpoint = 0');
  return database;
}
