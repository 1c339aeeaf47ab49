import { type Kysely, type Migration, sql } from 'kysely';

/**
 * Longer spans of time whose packed sums and counts of values are added up from those of hours and days, in `packed_sums` and `value_counts`. They
 * hold while the hours of the span are in `usage_spans` as `fingerprint` says.
 */
export const sumRollups: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create table sum_rollups (
        step_ms integer not null, at integer not null, fingerprint text not null, primary key (step_ms, at)
      )`.execute(db);
  },
};
