import type { Sql } from 'postgres';

/** A transaction that has begun. */
export interface OpenTransaction {
  /** @throws what postgres.js throws; also when the connection was lost before */
  unsafe: Sql['unsafe'];
  /** Ends it with `commit` or `rollback`. @throws what postgres.js throws */
  end(word: 'commit' | 'rollback'): Promise<void>;
  /** Whether its connection was lost, and the server has rolled it back. */
  isLost(): boolean;
}

/** What postgres.js tells of a connection, and calls when it is lost (`onclose` in its index.js). */
interface Connection {
  onclose: ((error: Error) => void) | null;
}

/**
 * Begins a transaction. `begin` of postgres.js (3.4.9) rolls back on a connection that it knows to be lost, and the write to
 * the socket that is gone ends the process; here nothing is sent once the connection is lost. Its `reserve` leaves a
 * connection that it has to make first unused for ever, so the client has a single one, which nobody else uses meanwhile.
 * @param client with `max: 1`
 * @param first statements that begin it
 * @throws what postgres.js throws
 */
export async function openTransaction(client: Sql, first: string): Promise<OpenTransaction> {
  const state: { connection: Connection | null; lost: Error | null } = { connection: null, lost: null };
  const unsafe = ((text: string, ...rest: never[]) =>
    state.lost === null ? client.unsafe(text, ...rest) : Promise.reject(state.lost)) as Sql['unsafe'];
  const end = async (word: 'commit' | 'rollback') => {
    try {
      await unsafe(word);
    } finally {
      if (state.lost === null && state.connection !== null) state.connection.onclose = null;
    }
  };
  const watched = {
    onexecute(connection: Connection) {
      state.connection = connection;
      connection.onclose = (error) => {
        state.lost = error;
      };
      return true;
    },
  };
  try {
    await client.unsafe(`begin; ${first}`, [], watched as object);
    return { unsafe, end, isLost: () => state.lost !== null };
  } catch (error) {
    // What was begun and has not got its lock; where the connection is lost, the server does so by itself.
    await end('rollback').catch(() => {});
    throw error;
  }
}

/**
 * Does `work` in a transaction: all of it, or nothing when something of it fails.
 * @param begin opens the transaction
 * @throws what `work` and postgres.js throw
 */
export async function inTransaction<T>(
  begin: () => Promise<OpenTransaction>,
  work: (transaction: Pick<Sql, 'unsafe'>) => Promise<T>,
): Promise<T> {
  const transaction = await begin();
  let result: T;
  try {
    result = await work(transaction);
  } catch (error) {
    // Where the connection is lost, the server does so by itself.
    await transaction.end('rollback').catch(() => {});
    throw error;
  }
  await transaction.end('commit');
  return result;
}

/** The statement that waits for a lock of the database, which its transaction holds until it ends. */
export const lockOf = (number: number): string => `select pg_advisory_xact_lock(${number})`;
