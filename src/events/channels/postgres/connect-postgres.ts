import postgres, { type Sql } from 'postgres';
import type { Address } from '../broker/address.ts';
import { prepareTables } from './tables.ts';

const CONNECT_S = 5;
/** One that publishes, one that receives and settles. Another one listens. */
const CONNECTIONS = 2;
/** The channel of NOTIFY by which gateways tell each other of new events; the topic is the message. */
const NOTIFICATIONS = 'modelgate_events';

export interface PostgresConnection {
  readonly sql: Sql;
  /** Tells that a topic has events, or may have had some while nobody listened. */
  listen(onTopic: (topic: string | null) => void): Promise<void>;
  /** Never rejects. */
  close(): Promise<void>;
}

/** A topic is in the database that the path names. `?sslmode=require` and `?sslmode=verify-full` encrypt. */
export async function connectPostgres(
  { hosts, parameters, password, path, username }: Address,
  onLost: (error: Error) => void,
): Promise<PostgresConnection> {
  let closing = false;
  const sql = postgres({
    host: hosts[0]?.host,
    port: hosts[0]?.port || 5432,
    database: path === '' ? username : path,
    username,
    password,
    ssl: encryption(parameters.get('sslmode')),
    max: CONNECTIONS,
    max_lifetime: null,
    connect_timeout: CONNECT_S,
    onnotice: () => {},
    onclose: () => {
      if (!closing) onLost(new Error('PostgreSQL closed the connection'));
    },
    connection: { application_name: 'modelgate' },
  });
  const close = async () => {
    closing = true;
    await sql.end({ timeout: 0 }).catch(() => {});
  };
  try {
    await prepareTables(sql);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    sql,
    async listen(onTopic) {
      await sql.listen(NOTIFICATIONS, onTopic, () => onTopic(null));
    },
    close,
  };
}

/** @throws Error for a mode that is unknown, or that would leave it to the server */
function encryption(sslmode = 'disable'): false | 'require' | 'verify-full' {
  if (sslmode === 'disable') return false;
  if (sslmode === 'require' || sslmode === 'verify-full') return sslmode;
  throw new Error('sslmode must be disable, require or verify-full');
}

/** Tells all gateways of new events in a topic. */
export const notify = (sql: Sql, topic: string) => sql`select pg_notify(${NOTIFICATIONS}, ${topic})`;
