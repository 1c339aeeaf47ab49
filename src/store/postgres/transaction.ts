import type { ReservedSql, Sql } from 'postgres';

/** A transaction on a connection of its own. */
export interface OpenTransaction {
  /** @throws what postgres.js throws; also when the connection was lost before */
  unsafe: Sql['unsafe'];
  /** Ends it with `commit` or `rollback`, and gives the connection back. */
  end(word: 'commit' | 'rollback'): Promise<void>;
}

/** What postgres.js tells of a connection, and calls when it is lost (`onclose` in its index.js). */
interface Connection {
  onclose: ((error: Error) => void) | null;
}

/**
 * Begins a transaction. `begin` of postgres.js rolls back on a connection that it knows to be lost (3.4.9), and the write to
 * the socket that is gone ends the process; here nothing is sent, and nothing given back, once the connection is lost.
 * @param first statements that begin it
 * @throws what postgres.js throws
 */
export async function openTransaction(sql: Sql, first: string): Promise<OpenTransaction> {
  const own: ReservedSql = await sql.reserve();
  const state: { connection: Connection | null; lost: Error | null } = { connection: null, lost: null };
  const release = () => {
    if (state.lost !== null) return;
    if (state.connection !== null) state.connection.onclose = null;
    own.release();
  };
  const unsafe = ((text: string, ...rest: never[]) =>
    state.lost === null ? own.unsafe(text, ...rest) : Promise.reject(state.lost)) as Sql['unsafe'];
  const end = async (word: 'commit' | 'rollback') => {
    try {
      await unsafe(word);
    } finally {
      release();
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
    await own.unsafe(`begin; ${first}`, [], watched as object);
    return { unsafe, end };
  } catch (error) {
    // What was begun and has not got its lock; where the connection is lost, the server does so by itself.
    await end('rollback').catch(() => {});
    throw error;
  }
}
