import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Kysely, sql } from 'kysely';
import { hasPostgres } from '../../../test/support/brokers/postgres.ts';
import { postgresServer } from '../../../test/support/store/engines.ts';
import type { Tables } from '../tables.ts';
import { isReading } from './reading.ts';
import { kyselyOverStatements } from './statements.ts';
import { openPostgresStore } from './store.ts';

const db: Kysely<Tables> = kyselyOverStatements<Tables>(async () => ({ rows: [] }));

describe('a statement for PostgreSQL', () => {
  const reading = [
    'select 1',
    '  SELECT 1',
    'show work_mem',
    'values (1), (2)',
    '(select 1) union all (select 2)',
    'with one as (select 1 as n) select n from one',
    'WITH RECURSIVE n AS (SELECT 1) SELECT * FROM n',
    "with one as (select 'delete' as word) select * from one",
    'with one as (select "update" from words) select * from one',
    'with one as (select $tag$ insert into keys $tag$) select * from one',
    '-- insert\nwith one as (select 1) select * from one',
    '/* delete */ select 1',
    'explain select 1',
    'explain delete from settings',
    'explain (analyze, buffers) select 1',
  ];
  for (const text of reading)
    it(`reads: ${text}`, () => assert.equal(isReading(sql.raw(text).compile(db)), true));

  const writing = [
    "insert into settings values ('a', 'b')",
    'with gone as (delete from settings returning *) select * from gone',
    "with made as (INSERT into settings values ('a', 'b') returning *) select * from made",
    "with one as (select 'it''s') update settings set value = 'b'",
    'explain analyze delete from settings',
    'create table one (n integer)',
    'do $$ begin null; end $$',
    'lock table settings',
    '',
  ];
  for (const text of writing)
    it(`may write: ${text}`, () => assert.equal(isReading(sql.raw(text).compile(db)), false));

  it('is known by its kind where it is built', () => {
    assert.equal(isReading(db.selectFrom('settings').selectAll().compile()), true);
    assert.equal(isReading(db.deleteFrom('settings').compile()), false);
    const reading = db.with('some', (within) => within.selectFrom('settings').selectAll());
    assert.equal(isReading(reading.selectFrom('some').selectAll().compile()), true);
    const removing = db.with('gone', (within) => within.deleteFrom('settings').returningAll());
    assert.equal(isReading(removing.selectFrom('gone').selectAll().compile()), false);
  });
});

describe('reading from a PostgreSQL database', { skip: !hasPostgres }, () => {
  const postgres = postgresServer();

  it('waits for nobody who writes', async (t) => {
    const store = await openPostgresStore(await postgres.database(), { follow: false });
    t.after(() => store.close());
    await store.db.transaction().execute(async (trx) => {
      await trx.insertInto('settings').values({ name: 'one', value: 'on' }).execute();
      const { rows } = await sql<{ n: number }>`with one as (select 1 as n) select n from one`.execute(
        store.db,
      );
      assert.deepEqual(rows, [{ n: 1 }]);
      assert.ok((await sql`explain select * from settings`.execute(store.db)).rows.length > 0);
    });
  });
});
