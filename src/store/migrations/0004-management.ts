import { type Kysely, type Migration, sql } from 'kysely';

/** What the management API keeps: who may use it, its tokens, failed logins, services and tasks. */
export const management: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const column of [
      'guid text',
      'display_name text',
      'disabled integer not null default 0',
      // Counts up with every change of password, role or state; a token of an older count is worth nothing.
      'credential_version integer not null default 1',
      'password_changed_at integer',
      'last_login_at integer',
    ])
      await sql.raw(`alter table users add column ${column}`).execute(db);
    // A random UUID (RFC 9562, version 4) for each user that there is.
    await sql`update users set guid = lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' ||
      substr(hex(randomblob(2)), 2) || '-a' || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))`.execute(
      db,
    );
    await sql`
      create table tokens (
        id text primary key, user_id text not null, kind text not null, hash text not null unique, hint text not null,
        name text, scopes text, labels text, cidrs text, credential_version integer not null,
        created_at integer not null, expires_at integer not null, auth_at integer, last_used_at integer,
        last_used_address text, ttl_seconds integer not null, max_expires_at integer
      )`.execute(db);
    await sql`create index tokens_by_user on tokens (user_id)`.execute(db);
    await sql`create index tokens_by_expiry on tokens (expires_at)`.execute(db);
    await sql`
      create table login_failures (
        subject text primary key, failures integer not null, first_at integer not null, last_at integer not null,
        blocked_until integer not null
      ) without rowid`.execute(db);
    await sql`
      create table services (
        id text primary key, guid text not null unique, desired_state text not null, options text not null,
        labels text not null, revision integer not null, created_at integer not null, updated_at integer not null
      ) without rowid`.execute(db);
    await sql`
      create table tasks (
        id text primary key, name text not null, target text, state text not null, status text not null,
        message text not null, user_id text, created_at integer not null, updated_at integer not null,
        progress real, result text
      ) without rowid`.execute(db);
    await sql`create index tasks_by_time on tasks (created_at)`.execute(db);
  },
};
