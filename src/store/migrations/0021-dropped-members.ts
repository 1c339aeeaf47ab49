import { type Kysely, type Migration, sql } from 'kysely';

/** What a translated request asked for and its target was not told. */
export const droppedMembers: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table requests add column dropped text`.execute(db);
  },
};
