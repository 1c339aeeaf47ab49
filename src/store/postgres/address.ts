import { GatewayError } from '../../lib/error.ts';

/** Where a PostgreSQL database is, and how to get in. */
export interface PostgresAddress {
  host: string;
  port: number;
  database: string;
  user: string;
  password: string;
  tls: false | 'require' | 'verify-full';
  /** Connections for writing and short reading; others read what takes long. */
  pool: number;
  /** False behind a pooler that gives each transaction another connection. */
  prepare: boolean;
  /** For people, without the password: `db.example:5432/modelgate`. */
  place: string;
}

/** Connections of one gateway, unless the address says otherwise. */
const POOL = 8;
const MOST_POOL = 100;

/** What may follow the `?`; libpq has the first (PostgreSQL documentation, 34.1.2). */
const parameters = ['sslmode', 'pool', 'prepare'] as const;

/**
 * Reads `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=verify-full`. Without a port it is 5432, without a database
 * that of the user.
 * @throws GatewayError for what is no address; it is not repeated, for it may hold a password
 */
export function postgresAddress(url: string): PostgresAddress {
  if (!/^postgres(?:ql)?:\/\//.test(url) || !URL.canParse(url))
    throw bad('must look like postgres://USER:PASSWORD@HOST:PORT/DATABASE');
  const { hostname, password, pathname, port, searchParams, username } = new URL(url);
  const unknown = [...searchParams.keys()].find((name) => !parameters.some((known) => known === name));
  if (unknown !== undefined) throw bad(`has a parameter that is not known: use ${parameters.join(', ')}`);
  const user = decoded(username);
  if (hostname === '' || user === '') throw bad('must name a user and a host');
  const host = hostname.replace(/^\[|\]$/g, '');
  const database = decoded(pathname.slice(1)) || user;
  const numbered = Number(port) || 5432;
  const tls = searchParams.get('sslmode') ?? 'disable';
  if (tls !== 'disable' && tls !== 'require' && tls !== 'verify-full')
    throw bad('has an sslmode that is not disable, require or verify-full');
  const pool = Number(searchParams.get('pool') ?? POOL);
  if (!Number.isInteger(pool) || pool < 2 || pool > MOST_POOL)
    throw bad(`has a pool that is no whole number from 2 to ${MOST_POOL}`);
  return {
    host,
    port: numbered,
    database,
    user,
    password: decoded(password),
    tls: tls === 'disable' ? false : tls,
    pool,
    prepare: searchParams.get('prepare') !== 'false',
    place: `${hostname}:${numbered}/${database}`,
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw bad('has a character that must be written as %XX');
  }
}

function bad(problem: string): GatewayError {
  return new GatewayError('invalid_request', `DATABASE_URL ${problem}`, { param: 'DATABASE_URL' });
}
