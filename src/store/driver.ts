import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely';
import { createKeyedMutex } from '../lib/keyed-mutex.ts';
import type { LockWait } from './lock-wait.ts';

/** The one thing here that statements and transactions wait for. */
const DATABASE = 'database';

/**
 * Kysely's driver over one connection of `node:sqlite`, whose own waiting for a lock is off: SQLite would wait on this
 * thread, and with it every request. A statement or a transaction that finds the database locked by another
 * process is tried again after a pause, and others may run meanwhile.
 */
export function sqliteDriver(database: DatabaseSync, lockWait: LockWait): Driver {
  const mutex = createKeyedMutex();
  /** Connections, of which there is only one behind all, that have a transaction open. */
  const inTransaction = new WeakSet<DatabaseConnection>();

  /** Runs something while no transaction of another caller is open. */
  const alone = <T>(run: () => T): Promise<T> => lockWait.retry(() => mutex.runExclusive(DATABASE, run));
  const connect = (): DatabaseConnection => {
    const connection: DatabaseConnection = {
      executeQuery<Row>(query: CompiledQuery) {
        if (inTransaction.has(connection)) return lockWait.retry(async () => execute<Row>(database, query));
        return alone(() => execute<Row>(database, query));
      },
      // Whole: a statement that is stepped through would keep the others from committing.
      async *streamQuery<Row>(query: CompiledQuery) {
        yield await connection.executeQuery<Row>(query);
      },
    };
    return connection;
  };
  const releases = new WeakMap<DatabaseConnection, () => void>();
  const end = (connection: DatabaseConnection) => {
    inTransaction.delete(connection);
    releases.get(connection)?.();
  };
  return {
    init: async () => {},
    acquireConnection: async () => connect(),
    async beginTransaction(connection) {
      await lockWait.retry(async () => {
        const release = await mutex.acquire(DATABASE);
        try {
          // As a writer from the start: a reader that begins to write later may find that it reads an old state.
          database.exec('begin immediate');
        } catch (error) {
          release();
          throw error;
        }
        releases.set(connection, release);
        inTransaction.add(connection);
      });
    },
    async commitTransaction(connection) {
      await lockWait.retry(() => database.exec('commit'));
      end(connection);
    },
    async rollbackTransaction(connection) {
      // After some failures, such as a full disk, SQLite has rolled back by itself.
      if (database.isTransaction) database.exec('rollback');
      end(connection);
    },
    releaseConnection: async () => {},
    destroy: async () => database.close(),
  };
}

function execute<Row>(database: DatabaseSync, { parameters, sql }: CompiledQuery): QueryResult<Row> {
  const statement = database.prepare(sql);
  // The tables hold nothing but text, bytes, numbers and null.
  const values = parameters as readonly SQLInputValue[];
  if (statement.columns().length > 0) return { rows: statement.all(...values) as Row[] };
  const { changes, lastInsertRowid } = statement.run(...values);
  return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
}
