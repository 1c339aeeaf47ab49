import type { Sql } from 'postgres';
import { type OpenTransaction, openTransaction } from './transaction.ts';

/** For how long what is under way on connections that are given up may take, in seconds. */
const GIVEN_UP_S = 30;

/** Connections for transactions, made as they are needed. */
export interface Transactions {
  /** Waits for a connection, the first who came first. @throws what postgres.js throws */
  begin(first: string): Promise<OpenTransaction>;
  /** Others in the place of all connections, after one was lost. What is under way on the old ones ends by itself. */
  renew(): void;
  /** What still waits for a connection gets none. */
  end(seconds: number): Promise<void>;
}

/**
 * @param connect makes a client with a single connection
 * @param most how many there are at once
 */
export function openTransactions(connect: () => Sql, most: number): Transactions {
  /** Those in use and those that are free. */
  let clients = new Set<Sql>();
  const free: Sql[] = [];
  const waiting: ((client: Sql) => void)[] = [];
  const make = (): Sql => {
    const client = connect();
    clients.add(client);
    return client;
  };
  const take = (): Sql | Promise<Sql> => {
    const connection = free.pop();
    if (connection !== undefined) return connection;
    if (clients.size < most) return make();
    return new Promise((resolve) => waiting.push(resolve));
  };
  const serveWaiting = () => {
    while (waiting.length > 0 && (free.length > 0 || clients.size < most))
      waiting.shift()?.(free.pop() ?? make());
  };
  const giveBack = (client: Sql, sound: boolean) => {
    // Those of before a renewal end by themselves.
    if (!clients.has(client)) return;
    if (sound) free.push(client);
    else {
      clients.delete(client);
      void client.end({ timeout: 0 }).catch(() => {});
    }
    serveWaiting();
  };
  return {
    async begin(first) {
      const client = await take();
      try {
        const transaction = await openTransaction(client, first);
        const { end, isLost } = transaction;
        return {
          ...transaction,
          end: (word) => end(word).finally(() => giveBack(client, !isLost())),
        };
      } catch (error) {
        giveBack(client, false);
        throw error;
      }
    },
    renew() {
      for (const client of clients) void client.end({ timeout: GIVEN_UP_S }).catch(() => {});
      clients = new Set();
      free.length = 0;
      serveWaiting();
    },
    async end(seconds) {
      await Promise.all([...clients].map((client) => client.end({ timeout: seconds })));
    },
  };
}
