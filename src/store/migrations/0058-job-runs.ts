import { type Kysely, type Migration, sql } from 'kysely';

/** When the jobs last ran that the gateways of one database do together, once for all, and which gateway did. */
export const jobRuns: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create table job_runs (name text primary key, at integer not null, node text not null) without rowid`.execute(
      db,
    );
  },
};
