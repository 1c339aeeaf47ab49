import postgres, { type Sql } from 'postgres';
import { withDeadline } from '../../../store/postgres/deadline.ts';
import type { Address } from '../broker/address.ts';

const CONNECT_S = 5;
/** For how long a server may take until the connection is ready. Less than `reconnecting-connection.ts` waits for one. */
const READY_MS = 8_000;
/** One that publishes, one that receives and settles. Another one listens. */
const CONNECTIONS = 2;
/** The channel of NOTIFY by which gateways tell each other of new events; the topic is the message. */
const NOTIFICATIONS = 'modelgate_events';

/** The numbers of the types of arrays that our statements have. They are the same in every database. */
export const arrayType = { bytea: 1001, text: 1009, bigint: 1016, double: 1022 } as const;

/** `from`: they are written and never read. */
const arrayTypes = Object.fromEntries(
  Object.entries(arrayType).map(([name, to]) => [
    name,
    { to, from: [], serialize: arrayText, parse: (text: string) => text },
  ]),
);

export interface PostgresConnection {
  readonly sql: Sql;
  /** Never rejects. */
  close(): Promise<void>;
}

export interface PostgresUse {
  /** Makes the tables that are needed, unless they are there. `client` has a single connection. */
  prepare(client: Sql): Promise<void>;
  /** Is told of each topic that gets events; null where nobody has to be. */
  readonly onEvents: ((topic: string) => void) | null;
}

/**
 * Connects to the database that the path names. `?sslmode=require` and `?sslmode=verify-full` encrypt.
 * @param readyMs after how long a server that does not answer is given up
 * @throws the server's error, and an error with the code `ETIMEDOUT`; nothing is left open then
 */
export async function connectPostgres(
  { hosts, parameters, password, path, username }: Address,
  { onEvents, prepare }: PostgresUse,
  onLost: (error: Error) => void,
  readyMs: number = READY_MS,
): Promise<PostgresConnection> {
  let closing = false;
  const options = {
    host: hosts[0]?.host,
    port: hosts[0]?.port || 5432,
    database: path === '' ? username : path,
    username,
    password,
    ssl: encryption(parameters.get('sslmode')),
    max: CONNECTIONS,
    max_lifetime: null,
    connect_timeout: CONNECT_S,
    // It would ask for the types of arrays first. When the connection is lost just then, nobody handles the error of that.
    fetch_types: false,
    types: arrayTypes,
    onnotice: () => {},
    onclose: () => {
      if (!closing) onLost(new Error('PostgreSQL closed the connection'));
    },
    connection: { application_name: 'modelgate' },
  };
  const sql = postgres(options);
  // `sql.listen` would connect again by itself, also after the end.
  const listening = { ...options, max: 1, onnotify: (_: string, topic: string) => onEvents?.(topic) };
  const listener = onEvents === null ? null : postgres(listening);
  // Its end is no loss.
  const preparing = postgres({ ...options, max: 1, onclose: () => {} });
  const close = async () => {
    closing = true;
    await Promise.allSettled([preparing, sql, listener].map((client) => client?.end({ timeout: 0 })));
  };
  const ready = async () => {
    await prepare(preparing);
    await preparing.end();
    if (listener !== null) await listener`listen ${listener(NOTIFICATIONS)}`;
  };
  try {
    await withDeadline(ready(), readyMs);
  } catch (error) {
    await close();
    throw error;
  }
  return { sql, close };
}

type ArrayElement = string | number | bigint | Uint8Array | null;

/** A list as PostgreSQL reads it: every element in quotes. */
function arrayText(elements: readonly ArrayElement[]): string {
  const texts = elements.map((element) => {
    if (element === null) return 'null';
    const text =
      element instanceof Uint8Array ? `\\x${Buffer.from(element).toString('hex')}` : String(element);
    return `"${text.replace(/[\\"]/g, '\\$&')}"`;
  });
  return `{${texts.join()}}`;
}

/** @throws Error for a mode that is unknown, or that would leave it to the server */
function encryption(sslmode = 'disable'): false | 'require' | 'verify-full' {
  if (sslmode === 'disable') return false;
  if (sslmode === 'require' || sslmode === 'verify-full') return sslmode;
  throw new Error('sslmode must be disable, require or verify-full');
}

/** Tells all gateways of new events in a topic. */
export const notify = (sql: Sql, topic: string) => sql`select pg_notify(${NOTIFICATIONS}, ${topic})`;
