import { type Kysely, type Migration, sql } from 'kysely';

/** What only one process may do at a time, e.g. renewing a login whose refresh token is good for one use. */
export const leases: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create table leases (
        name text primary key, owner text not null, until integer not null
      ) without rowid`.execute(db);
  },
};
