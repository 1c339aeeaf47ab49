import { type Kysely, type Migration, sql } from 'kysely';

/** Tables whose every change makes a running gateway rebuild its snapshot. */
const watched = ['keys', 'connections', 'users', 'settings'] as const;

export const first: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable('keys')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('name', 'text', (column) => column.notNull().unique())
      .addColumn('prefix', 'text', (column) => column.notNull())
      .addColumn('hash', 'text', (column) => column.notNull().unique())
      .addColumn('models', 'text')
      .addColumn('created_at', 'integer', (column) => column.notNull())
      .addColumn('expires_at', 'integer')
      .addColumn('disabled', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
    await db.schema
      .createTable('connections')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('provider', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull().unique())
      .addColumn('auth_type', 'text', (column) => column.notNull())
      .addColumn('base_url', 'text')
      .addColumn('credential', 'text')
      .addColumn('default_model', 'text')
      .addColumn('active', 'integer', (column) => column.notNull().defaultTo(1))
      .addColumn('priority', 'integer', (column) => column.notNull().defaultTo(0))
      .addColumn('models', 'text')
      .addColumn('models_at', 'integer')
      .addColumn('status', 'text', (column) => column.notNull().defaultTo('untested'))
      .addColumn('last_error', 'text')
      .addColumn('last_tested_at', 'integer')
      .addColumn('created_at', 'integer', (column) => column.notNull())
      .execute();
    await db.schema
      .createTable('users')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('name', 'text', (column) => column.notNull().unique())
      .addColumn('role', 'text', (column) => column.notNull())
      .addColumn('password', 'text', (column) => column.notNull())
      .addColumn('created_at', 'integer', (column) => column.notNull())
      .addColumn('updated_at', 'integer', (column) => column.notNull())
      .execute();
    await db.schema
      .createTable('settings')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('value', 'text', (column) => column.notNull())
      .execute();
    await createRequests(db);
    await createRevision(db);
  },
};

async function createRequests(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table requests (
      id text primary key, started_at integer not null, key_id text, connection_id text, connection text,
      provider text, format text not null, requested_model text, model text, status integer not null,
      outcome text not null, error_code text, error_message text, streamed integer not null,
      input_tokens integer, cache_read_tokens integer, cache_write_5m_tokens integer,
      cache_write_1h_tokens integer, output_tokens integer, reasoning_tokens integer,
      audio_input_tokens integer, audio_output_tokens integer, web_searches integer,
      estimated integer not null, cost_usd real, price_source text, ttft_ms integer,
      duration_ms integer not null, attempts integer not null, upstream_request_id text, user_agent text
    ) without rowid`.execute(db);
  await sql`create index requests_by_time on requests (started_at)`.execute(db);
  await sql`create index requests_by_key on requests (key_id, started_at)`.execute(db);
}

async function createRevision(db: Kysely<unknown>): Promise<void> {
  await sql`create table revision (id integer primary key check (id = 1), value integer not null)`.execute(
    db,
  );
  await sql`insert into revision (id, value) values (1, 0)`.execute(db);
  for (const table of watched) {
    for (const verb of ['insert', 'update', 'delete']) {
      await sql
        .raw(
          `create trigger ${table}_${verb} after ${verb} on ${table} begin update revision set value = value + 1; end`,
        )
        .execute(db);
    }
  }
}
