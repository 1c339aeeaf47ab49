import { type Kysely, type Migration, sql } from 'kysely';

/** Answers to requests of the management API that carried an `Idempotency-Key`, sealed. */
export const idempotency: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create table idempotency (
        user_id text not null, name text not null, fingerprint text not null, answer text, created_at integer not null,
        primary key (user_id, name)
      )`.execute(db);
    await sql`create index idempotency_by_time on idempotency (created_at)`.execute(db);
  },
};
