import { type Kysely, type Migration, sql } from 'kysely';

/** Tokens that end with a change of their user's role, and tokens for automation that reach some members only. */
export const boundTokens: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table users add column role_version integer not null default 1`.execute(db);
    await sql`alter table tokens add column role_version integer not null default 1`.execute(db);
    await sql`alter table tokens add column selectors text`.execute(db);
  },
};
