import { type Kysely, type Migration, sql } from 'kysely';

/** How many targets went on with an answer that another began. */
export const continued: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table requests add column continued integer not null default 0`.execute(db);
  },
};
