import { type Kysely, type Migration, sql } from 'kysely';

/** Why the answer to a request ended, in the ledger's word and in the provider's. */
export const finishReasons: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const column of ['finish_reason', 'raw_finish_reason'])
      await sql`alter table requests add column ${sql.ref(column)} text`.execute(db);
  },
};
