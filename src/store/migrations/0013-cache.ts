import { type Kysely, type Migration, sql } from 'kysely';

/** Answers that are given again: whose keys want that, and which requests got one. */
export const cache: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table keys add column cache_ttl_seconds integer`.execute(db);
    await sql`alter table requests add column cached integer not null default 0`.execute(db);
  },
};
