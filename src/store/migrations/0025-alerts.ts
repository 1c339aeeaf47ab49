import { type Kysely, type Migration, sql } from 'kysely';

/** Alerts, and what their digests have counted. */
export const alerts: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create table alerts (
        id text primary key, name text not null unique, kind text not null, target text not null, secret text,
        events text not null, condition text, digest_ms integer not null, paused integer not null,
        by_api integer not null, created_at integer not null, updated_at integer not null, active_since integer not null
      ) without rowid`.execute(db);
    await sql`
      create table alert_digests (
        alert_id text primary key references alerts (id) on delete cascade, state text not null
      ) without rowid`.execute(db);
    for (const verb of ['insert', 'update', 'delete']) {
      await sql
        .raw(
          `create trigger alerts_${verb} after ${verb} on alerts begin update revision set value = value + 1; end`,
        )
        .execute(db);
    }
    await sql
      .raw(
        `create trigger alerts_digests after delete on alerts begin
          delete from alert_digests where alert_id = old.id; end`,
      )
      .execute(db);
  },
};
