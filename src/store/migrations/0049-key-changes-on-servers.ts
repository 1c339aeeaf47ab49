import { type Kysely, type Migration, sql } from 'kysely';

/** On a server too, which keys were changed last is noted: a file has these triggers since 0047. */
export const keyChangesOnServers: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const [verb, row] of [
      ['insert', 'new'],
      ['update', 'new'],
      ['delete', 'old'],
    ]) {
      await sql
        .raw(`
          create trigger if not exists key_changes_${verb} after ${verb} on keys begin
            insert into key_changes (key_id) values (${row}.id);
            delete from key_changes where number <= (select max(number) from key_changes) - 10000;
          end`)
        .execute(db);
    }
  },
};
