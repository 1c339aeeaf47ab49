import { type Kysely, type Migration, sql } from 'kysely';

/** The kept sums of some keys, without a look at those of all others. */
export const sumsByKey: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create index usage_sums_by_key on usage_sums (key_id, at) where grouping_name = 'key'`.execute(db);
  },
};
