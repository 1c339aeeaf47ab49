import { type Kysely, type Migration, sql } from 'kysely';

/**
 * Sums of spans of time that have many groups, all groups of a span in one row: an hour may have as many as requests. They hold while
 * `packed` of their span in `usage_spans` is 1, which a gateway of an earlier version leaves at 0.
 */
export const packedSums: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create table packed_sums (
        grouping_name text not null, step_ms integer not null, at integer not null, sums blob not null,
        primary key (grouping_name, step_ms, at)
      )`.execute(db);
    await sql`alter table usage_spans add column packed integer not null default 0`.execute(db);
  },
};
