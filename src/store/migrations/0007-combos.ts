import { type Kysely, type Migration, sql } from 'kysely';

/** Combos and aliases. Their every change makes a running gateway rebuild its snapshot. */
export const combos: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create table combos (
        id text primary key, name text not null unique, strategy text not null, targets text not null,
        options text not null, active integer not null default 0, created_at integer not null,
        updated_at integer not null
      )`.execute(db);
    await sql`
      create table aliases (
        id text primary key, name text not null unique, target text not null, created_at integer not null
      )`.execute(db);
    for (const table of ['combos', 'aliases']) {
      for (const verb of ['insert', 'update', 'delete']) {
        await sql
          .raw(
            `create trigger ${table}_${verb} after ${verb} on ${table} begin update revision set value = value + 1; end`,
          )
          .execute(db);
      }
    }
  },
};
