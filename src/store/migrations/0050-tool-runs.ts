import { type Kysely, type Migration, sql } from 'kysely';

/** The runs of tools by their session, without a look at requests that name none. */
export const toolRuns: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create index if not exists requests_by_session on requests (session, key_id, started_at)
        where session is not null`.execute(db);
  },
};
