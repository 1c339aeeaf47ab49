import { type Kysely, type Migration, sql } from 'kysely';

/** Why requests went where they went, as JSON text, by the id of the request, which sorts by time. */
export const traces: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`create table traces (id text primary key, trace text not null) without rowid`.execute(db);
  },
};
