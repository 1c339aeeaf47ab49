import { type Kysely, type Migration, sql } from 'kysely';

/**
 * Nothing but the use of a new budget of a connection was looked up by it, as is that of combos and tags without an index. With a thousand connections
 * each row of the ledger changed a page of it that no other did, which was a third of what writing the row cost. A server keeps it.
 */
export const noIndexByConnection: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    // It has no secrets: its pages need not be overwritten, all of which would have to be written.
    await sql`pragma secure_delete = fast`.execute(db);
    await sql`drop index if exists requests_by_connection`.execute(db);
    await sql`pragma secure_delete = on`.execute(db);
  },
};
