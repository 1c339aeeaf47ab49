import { type Kysely, type Migration, sql } from 'kysely';

/**
 * Answers of the responses format, for as long as they can be continued. Ids may be a provider's, so they are one key's
 * own. The index holds all that the bounds on
 * their number need, so that counting reads no content.
 */
export const responses: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create table responses (
        id text not null, key_id text not null, created_at integer not null, connection_id text not null,
        model text not null, previous_id text, bytes integer not null, input text not null, response text not null,
        primary key (id, key_id)
      )`.execute(db);
    await sql`create index responses_by_time on responses (created_at, bytes)`.execute(db);
  },
};
