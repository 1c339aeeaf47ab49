import { type Kysely, type Migration, sql } from 'kysely';

/** Filters of the dashboard's pages that users saved. They go with their user. */
export const savedViews: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create table saved_views (
        id text primary key, user_id text not null, page text not null, name text not null, search text not null,
        created_at integer not null, updated_at integer not null,
        unique (user_id, page, name)
      ) without rowid`.execute(db);
    await sql
      .raw(
        `create trigger users_saved_views after delete on users begin
          delete from saved_views where user_id = old.id; end`,
      )
      .execute(db);
  },
};
