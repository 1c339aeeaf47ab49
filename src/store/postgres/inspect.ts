import { migrations } from '../migrations/index.ts';
import { postgresAddress } from './address.ts';
import { reported } from './failure.ts';
import { pendingMigrations } from './migrate.ts';
import { openPool } from './pool.ts';

/** The state of a database, as found without changing it. */
export interface PostgresInspection {
  place: string;
  /** Migrations that the next start brings; all of them in an empty database. */
  pending: readonly string[];
  empty: boolean;
}

const INSPECTION_MS = 10_000;

/** @throws GatewayError as opening it would */
export async function inspectPostgres(url: string): Promise<PostgresInspection> {
  const address = postgresAddress(url);
  const { place } = address;
  const pool = openPool(address, { max: 1, statementMs: INSPECTION_MS, readOnly: true });
  try {
    const migrationNames = Object.keys(migrations);
    const pending = await pendingMigrations(pool.sql(), migrationNames, { create: true, place });
    return { place, pending, empty: pending.length === migrationNames.length };
  } catch (error) {
    throw reported(error, place);
  } finally {
    await pool.end(1);
  }
}
