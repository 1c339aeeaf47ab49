import { type Kysely, type Migration, sql } from 'kysely';

/** The service tier that a request asked for, and the one that served it. */
export const serviceTiers: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const column of ['asked_tier', 'served_tier'])
      await sql`alter table requests add column ${sql.ref(column)} text`.execute(db);
  },
};
