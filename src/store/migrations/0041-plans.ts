import { type Kysely, type Migration, sql } from 'kysely';

/** Which connections are paid by a plan, what choosing a target saved, and which session a request belongs to. */
export const plans: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table connections add column billing text not null default 'metered'`.execute(db);
    await sql`alter table requests add column on_plan integer not null default 0`.execute(db);
    await sql`alter table requests add column routing_savings_usd real`.execute(db);
    await sql`alter table requests add column session text`.execute(db);
  },
};
