import { type Kysely, type Migration, sql } from 'kysely';

/** Which request made a response that its provider keeps: what it cost may be told only when it is read. */
export const responseRequests: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table response_places add column request_id text`.execute(db);
  },
};
