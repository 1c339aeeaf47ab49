import { type Kysely, type Migration, sql } from 'kysely';

/** Through which combos within the one that was asked for a request got to its target. */
export const innerCombos: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table requests add column inner_combo_ids text`.execute(db);
  },
};
