import { type Kysely, type Migration, sql } from 'kysely';

/** The gateways that share a database, and which of them does a task. */
export const nodes: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create table nodes (
        id text primary key not null, host text not null, url text not null, version text not null,
        started_at integer not null, seen_at integer not null
      ) without rowid`.execute(db);
    await sql`alter table tasks add column node text`.execute(db);
  },
};
