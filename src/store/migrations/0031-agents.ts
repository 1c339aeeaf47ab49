import { type Kysely, type Migration, sql } from 'kysely';

/** What was decided about ACP agents, and those that were added. */
export const agents: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create table agents (
        id text primary key not null, enabled integer not null, settings text not null, custom text,
        by_api integer not null, created_at integer not null, updated_at integer not null
      ) without rowid`.execute(db);
    for (const verb of ['insert', 'update', 'delete']) {
      await sql
        .raw(
          `create trigger agents_${verb} after ${verb} on agents begin update revision set value = value + 1; end`,
        )
        .execute(db);
    }
  },
};
