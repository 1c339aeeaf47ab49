import { type Kysely, type Migration, sql } from 'kysely';

/**
 * Kept responses are sealed: `sealed` has what `input` and `response` had, which are empty then. Rows of earlier
 * versions are sealed by the first gateway that finds them, for a migration has no key. And the responses that a
 * provider keeps: who asked for them at which connection, nothing of what they say.
 */
export const sealedResponses: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table responses add column sealed blob`.execute(db);
    await sql`alter table responses add column sealed_with text`.execute(db);
    await sql`create index responses_by_key on responses (sealed_with)`.execute(db);
    await sql`
      create table response_places (
        id text not null, key_id text not null, connection_id text not null, created_at integer not null,
        primary key (id, key_id)
      ) without rowid`.execute(db);
    await sql`create index response_places_by_time on response_places (created_at)`.execute(db);
  },
};
