import { GatewayError } from '../lib/error.ts';

/** Why no backup is made or restored where the state is not in the data directory. */
export function stateOnServer(): GatewayError {
  return new GatewayError(
    'invalid_request',
    'The state is in the PostgreSQL database of DATABASE_URL: back it up with `pg_dump`, restore it with `pg_restore`, and keep STORAGE_ENCRYPTION_KEY elsewhere',
    { param: 'DATABASE_URL' },
  );
}
