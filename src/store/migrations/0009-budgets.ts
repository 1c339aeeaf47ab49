import { type Kysely, type Migration, sql } from 'kysely';

/** Budgets and limits. Those of a key, a combo or a connection go with it. */
export const budgets: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create table budgets (
        id text primary key, scope text not null, subject text, metric text not null, amount real not null,
        period text, soft_percent integer, unpriced text not null, created_at integer not null,
        updated_at integer not null, reset_at integer
      ) without rowid`.execute(db);
    await sql`
      create unique index budgets_by_what on budgets (scope, coalesce(subject, ''), metric, coalesce(period, ''))
    `.execute(db);
    await sql`alter table requests add column combo_id text`.execute(db);
    await sql`create index requests_by_connection on requests (connection_id, started_at)`.execute(db);
    for (const verb of ['insert', 'update', 'delete']) {
      await sql
        .raw(
          `create trigger budgets_${verb} after ${verb} on budgets begin update revision set value = value + 1; end`,
        )
        .execute(db);
    }
    for (const [table, scope] of [
      ['keys', 'key'],
      ['connections', 'connection'],
      ['combos', 'combo'],
    ]) {
      await sql
        .raw(
          `create trigger ${table}_budgets after delete on ${table} begin
            delete from budgets where scope = '${scope}' and subject = old.id; end`,
        )
        .execute(db);
    }
  },
};
