import { type Kysely, type Migration, sql } from 'kysely';

/** When budgets reached their warning threshold or their limit. */
export const budgetThresholds: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create table budget_thresholds (
        budget_id text not null, kind text not null, reached_at integer not null, used real not null,
        what text not null, primary key (budget_id, kind, reached_at)
      ) without rowid`.execute(db);
    await sql`create index budget_thresholds_by_time on budget_thresholds (reached_at)`.execute(db);
  },
};
