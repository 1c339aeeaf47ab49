import { type Kysely, type Migration, sql } from 'kysely';

/** What is held against accounts, so that a restart does not ask again those that said when to come back. */
export const standings: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create table standings (
        connection_id text not null, model text not null, state text not null, reason text not null,
        since integer not null, until integer, told integer not null, failures integer not null, fingerprint text,
        primary key (connection_id, model)
      ) without rowid`.execute(db);
  },
};
