import { type Kysely, type Migration, sql } from 'kysely';

/** The configurations of events that were put into force, the newest of them for going back. */
export const eventConfigs: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create table event_configs (
        number integer primary key autoincrement, text text not null, created_at integer not null, author text not null,
        via text not null
      )`.execute(db);
  },
};
