import { type Kysely, type Migration, sql } from 'kysely';

/**
 * How often each value of some attributes of requests occurs in an hour or a day, of which there may be as many as requests: a row for
 * each attribute and span of time, its values by number. A span is counted while it is in `usage_spans` with `counted` = 1.
 */
export const valueCounts: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create table counted_values (number integer primary key autoincrement, value text not null)`.execute(
      db,
    );
    // Values may be longer than what an index of a server takes.
    await sql`create index counted_values_by_value on counted_values (substr(value, 1, 200))`.execute(db);
    await sql`
      create table value_counts (
        attribute text not null, step_ms integer not null, at integer not null, counts blob not null,
        primary key (attribute, step_ms, at)
      )`.execute(db);
    await sql`alter table usage_spans add column counted integer not null default 0`.execute(db);
  },
};
