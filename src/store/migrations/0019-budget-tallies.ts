import { type Kysely, type Migration, sql } from 'kysely';

/** What a gateway knows of the budgets that it shares with others, for its next start. */
export const budgetTallies: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create table budget_tallies (key text primary key, own text not null, tally text not null) without rowid
    `.execute(db);
  },
};
