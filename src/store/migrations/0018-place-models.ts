import { type Kysely, type Migration, sql } from 'kysely';

/** How the client called the model of a response that its provider keeps; null for those of earlier versions. */
export const placeModels: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table response_places add column model text`.execute(db);
  },
};
