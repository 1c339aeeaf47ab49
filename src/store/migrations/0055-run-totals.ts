import { type Kysely, type Migration, sql } from 'kysely';

/** How many runs of tools the ledger has, up to a time: one row, with what was true of `usage_spans` then. */
export const runTotals: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create table run_totals (
        id integer primary key, since integer not null, before integer not null, fingerprint text not null,
        runs integer not null
      )`.execute(db);
  },
};
