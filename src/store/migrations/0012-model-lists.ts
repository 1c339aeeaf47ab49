import { type Kysely, type Migration, sql } from 'kysely';

/** When a connection was last asked for its models, and why it gave none then; the list that it gave before stays. */
export const modelLists: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table connections add column models_tried_at integer`.execute(db);
    await sql`alter table connections add column models_error text`.execute(db);
  },
};
