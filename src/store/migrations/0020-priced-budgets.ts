import { type Kysely, type Migration, sql } from 'kysely';

/**
 * Budgets in USD refuse what has no price. They were made to allow it where nobody said anything, and what was said is not
 * to be told from that, so all of them refuse until their owner allows it.
 */
export const pricedBudgets: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`update budgets set unpriced = 'refuse'`.execute(db);
  },
};
