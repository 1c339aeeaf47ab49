import type { Kysely } from 'kysely';
import type { Sql } from 'postgres';
import { GatewayError } from '../../lib/error.ts';
import type { Migrations } from '../migrate.ts';
import { migrations as released } from '../migrations/index.ts';
import { tableNames } from '../tables.ts';
import { asPostgres, missingFunctions, revisionNotice } from './definitions.ts';
import { kyselyOverStatements } from './statements.ts';
import { inTransaction, lockOf, openTransaction } from './transaction.ts';

/** Whoever brings the schema up to date takes it; others wait. A number by chance. */
const MIGRATING_LOCK = 7_348_910_229;

const OLDEST_VERSION = 15;

/** Connections, or a transaction on one. */
type Querying = Pick<Sql, 'unsafe'>;

export interface PostgresMigrateInput {
  /** A client with a single connection. */
  sql: Sql;
  place: string;
  /** Milliseconds since the epoch. */
  now: number;
  /** Whether an empty database is filled. */
  create: boolean;
  migrations?: Migrations;
}

/**
 * Brings the schema up to this version, forward only and in one transaction: of two gateways that start together the
 * second one waits, and finds the work done.
 * @throws GatewayError for a server that is too old, a database of another program or of a newer version, and for none
 *   where `create` is false; nothing is changed then
 */
export async function migratePostgres(input: PostgresMigrateInput): Promise<void> {
  const { create, migrations = released, now, place, sql } = input;
  const migrationNames = Object.keys(migrations);
  if ((await pendingMigrations(sql, migrationNames, input)).length === 0) return;
  let current = 'the list of migrations';
  const begin = () => openTransaction(sql, lockOf(MIGRATING_LOCK));
  try {
    await inTransaction(begin, async (transaction) => {
      const pending = await pendingMigrations(transaction, migrationNames, input);
      if (pending.length === 0) return;
      if (pending.length === migrationNames.length) {
        if (!create) throw absent(place);
        await transaction.unsafe(
          'create table kysely_migration (name varchar(255) primary key not null, timestamp varchar(255) not null)',
        );
        await transaction.unsafe(missingFunctions);
      }
      const db = definingOver(transaction);
      for (const name of pending) {
        current = name;
        await migrations[name]?.up(db);
        await transaction.unsafe('insert into kysely_migration (name, timestamp) values ($1, $2)', [
          name,
          new Date(now).toISOString(),
        ]);
      }
      if (pending.includes(FIRST)) await transaction.unsafe(revisionNotice);
    });
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    throw new GatewayError(
      'internal_error',
      `The database ${place} could not be brought up to date: ${current} failed (${String(error)}). Nothing was changed`,
      { cause: error },
    );
  }
}

const FIRST = '0001-first';

async function refuseOldServer(sql: Querying, place: string): Promise<void> {
  const [row] = await sql.unsafe('show server_version_num');
  const version = Math.floor(Number(row?.['server_version_num']) / 10_000);
  if (version < OLDEST_VERSION)
    throw new GatewayError(
      'invalid_request',
      `The server of ${place} is PostgreSQL ${version}: Modelgate needs ${OLDEST_VERSION} or newer`,
      { param: 'DATABASE_URL' },
    );
}

/**
 * The migrations that a database has not had.
 * @throws GatewayError for a server that is too old, a database of another program or of a newer version, and for an empty
 *   one where `create` is false
 */
export async function pendingMigrations(
  sql: Querying,
  known: readonly string[],
  { create, place }: Pick<PostgresMigrateInput, 'create' | 'place'>,
): Promise<string[]> {
  await refuseOldServer(sql, place);
  const tables = await tablesOf(sql);
  if (!tables.has('kysely_migration')) {
    // Events keep theirs beside ours, where they were told to.
    const others = [...tables].filter((name) => !name.startsWith('modelgate_'));
    if (others.length > 0)
      throw new GatewayError(
        'invalid_request',
        `${place} is no database of Modelgate: it has the tables ${others.slice(0, 10).join(', ')}. Make one of its own with \`createdb\``,
        { param: 'DATABASE_URL' },
      );
    if (!create) throw absent(place);
    return [...known];
  }
  const rows = await sql.unsafe('select name from kysely_migration order by name');
  const applied = rows.map((row) => String(row['name']));
  const newer = applied.filter((name) => !known.includes(name));
  if (newer.length > 0)
    throw new GatewayError(
      'invalid_request',
      `The database ${place} was written by a newer Modelgate (its schema has ${newer.join(', ')}, this version knows up to ${known.at(-1)}): update Modelgate`,
      { param: 'DATABASE_URL' },
    );
  const pending = known.filter((name) => !applied.includes(name));
  const missing = pending.length > 0 ? [] : tableNames.filter((name) => !tables.has(name));
  if (missing.length > 0)
    throw new GatewayError(
      'internal_error',
      `The database ${place} is incomplete: it lacks the tables ${missing.join(', ')}. Restore it from a dump`,
    );
  return pending;
}

/** The tables of the schema that ours are made in. */
async function tablesOf(sql: Querying): Promise<ReadonlySet<string>> {
  const rows = await sql.unsafe('select tablename from pg_tables where schemaname = current_schema()');
  return new Set(rows.map((row) => String(row['tablename'])));
}

function absent(place: string): GatewayError {
  return new GatewayError(
    'not_found',
    `The database ${place} has no tables of Modelgate yet: start with \`gateway setup\` or \`gateway serve\``,
  );
}

/** For migrations, which are written in the words of SQLite. All of them are one transaction of the caller's. */
function definingOver(sql: Querying): Kysely<unknown> {
  return kyselyOverStatements(async ({ parameters, sql: text }) => {
    const words = asPostgres(text);
    if (words === '') return { rows: [] };
    const rows = await sql.unsafe(words, [...parameters] as never[]);
    return { rows: [...rows], numAffectedRows: BigInt(rows.count ?? 0) };
  });
}
