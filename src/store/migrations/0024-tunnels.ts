import { type Kysely, type Migration, sql } from 'kysely';

/** The tunnels that were created, one of each kind. */
export const tunnels: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create table tunnels (
        id text primary key not null, domain text, desired_state text not null, created_at integer not null
      ) without rowid`.execute(db);
  },
};
