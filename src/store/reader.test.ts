import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sql } from 'kysely';
import { temporaryFolder } from '../../test/support/machine/folder.ts';
import { openStore } from './database.ts';

/** Counts for a while, in the database alone. */
const counting = (most: number) =>
  sql<{
    n: number;
  }>`with recursive c(x) as (select 1 union all select x + 1 from c where x < ${most}) select count(*) as n from c`;

describe('the reader of a store', () => {
  it('sees what is written, and writes nothing', async (test) => {
    const store = await openStore(temporaryFolder(test));
    test.after(() => store.close());
    const { reading } = store;
    assert.deepEqual(await reading.selectFrom('settings').selectAll().execute(), []);
    await store.db.insertInto('settings').values({ name: 'a', value: '1' }).execute();
    assert.deepEqual(await reading.selectFrom('settings').selectAll().execute(), [{ name: 'a', value: '1' }]);
    await assert.rejects(reading.deleteFrom('settings').execute(), { code: 'ERR_SQLITE_ERROR' });
    await assert.rejects(sql`select nonsense`.execute(reading), /nonsense/);
    assert.equal((await reading.selectFrom('settings').selectAll().execute()).length, 1, 'and goes on');
  });

  it('blocks nobody, and closes with the store after its query', async (test) => {
    const store = await openStore(temporaryFolder(test));
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 1);
    test.after(() => clearInterval(timer));
    const { rows } = await counting(2_000_000).execute(store.reading);
    assert.equal(rows[0]?.n, 2_000_000);
    assert.ok(turns > 2, 'other work was done meanwhile');
    const cut = assert.rejects(counting(4_000_000).execute(store.reading), /ended/);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await store.close();
    await cut;
  });
});
