import postgres, { type Sql } from 'postgres';
import type { PostgresAddress } from './address.ts';

const CONNECT_S = 5;
/** Between two tries to connect. Those who ask meanwhile wait. */
const AGAIN_S = 0.5;

/** What a connection is for: how long the server lets a statement run, in milliseconds, and how many there are. */
export interface PoolUse {
  max: number;
  statementMs: number;
  readOnly?: boolean;
}

/** Whole numbers and exact ones arrive as text; all that we store are exact as numbers of JavaScript. */
const int8 = { to: 20, from: [20, 1700], parse: Number, serialize: String };

/** What a lock is waited for, as with the file (`lock-wait.ts`). */
const LOCK_MS = 15_000;

/** Connections to the database, made as they are needed. */
export interface Pool {
  sql(): Sql;
  /**
   * Others in their place, after one was lost: postgres.js (3.4.9) may keep a connection that was lost while it wrote, and can
   * never open again. What is under way on the old ones ends by itself.
   */
  renew(): void;
  end(seconds: number): Promise<void>;
}

export function openPool(address: PostgresAddress, use: PoolUse): Pool {
  let current = connect(address, use);
  return {
    sql: () => current,
    renew() {
      current.end({ timeout: RENEWED_S }).catch(() => {});
      current = connect(address, use);
    },
    end: (seconds) => current.end({ timeout: seconds }),
  };
}

/** For how long what is under way on replaced connections may take. */
const RENEWED_S = 30;

/** A client, which makes its connections as they are needed. */
export function connect(address: PostgresAddress, { max, readOnly = false, statementMs }: PoolUse): Sql {
  return postgres({
    ...connectionOptions(address),
    max,
    backoff: () => AGAIN_S,
    connection: {
      application_name: 'modelgate',
      statement_timeout: statementMs,
      lock_timeout: LOCK_MS,
      ...(readOnly ? { default_transaction_read_only: true } : {}),
    },
  }) as Sql;
}

/** What all connections have in common. */
export function connectionOptions({ database, host, password, port, prepare, tls, user }: PostgresAddress) {
  return {
    host,
    port,
    database,
    username: user,
    password,
    ssl: tls,
    prepare,
    connect_timeout: CONNECT_S,
    max_lifetime: null,
    // It would ask for the types of arrays first, of which there are none.
    fetch_types: false,
    types: { int8 },
    onnotice: () => {},
  };
}
