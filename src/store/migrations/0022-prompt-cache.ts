import { type Kysely, type Migration, sql } from 'kysely';

/** Whether a connection is told what to keep in its prompt cache, and what such caches saved with each request. */
export const promptCache: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table connections add column prompt_cache_marks integer not null default 1`.execute(db);
    await sql`alter table requests add column cache_savings_usd real`.execute(db);
  },
};
