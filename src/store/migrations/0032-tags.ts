import { type Kysely, type Migration, sql } from 'kysely';

/** Owners, teams and labels of keys, tags of requests, and the names of keys and combos that were removed. */
export const tags: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const column of ['owner', 'team', 'labels'])
      await sql`alter table keys add column ${sql.ref(column)} text`.execute(db);
    await sql`alter table requests add column tags text`.execute(db);
    await sql`
      create table former_names (
        id text primary key, name text not null, removed_at integer not null
      ) without rowid`.execute(db);
    for (const table of ['keys', 'combos']) {
      await sql
        .raw(
          `create trigger ${table}_former after delete on ${table} begin
            insert or replace into former_names (id, name, removed_at)
            values (old.id, old.name, cast(unixepoch('subsec') * 1000 as integer)); end`,
        )
        .execute(db);
    }
  },
};
