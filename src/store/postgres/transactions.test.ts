import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasPostgres } from '../../../test/support/brokers/postgres.ts';
import { temporaryFolder } from '../../../test/support/machine/folder.ts';
import { postgresServer } from '../../../test/support/store/engines.ts';
import { openPostgresStore } from './store.ts';

describe('transactions on a PostgreSQL database', { skip: !hasPostgres }, () => {
  const postgres = postgresServer();

  it('leave connections for other queries, even for queries from within them', async (t) => {
    const store = await openPostgresStore(await postgres.database(), { follow: false });
    t.after(() => store.close());
    const change = (name: string) =>
      store.db.transaction().execute(async (trx) => {
        await trx.insertInto('settings').values({ name, value: 'on' }).execute();
        const seen = await store.db.selectFrom('settings').selectAll().where('name', '=', name).execute();
        assert.deepEqual(seen, [], 'not yet for others');
      });
    const names = Array.from({ length: 12 }, (_, index) => `s${String(index).padStart(2, '0')}`);
    await Promise.all(names.map(change));
    const rows = await store.db.selectFrom('settings').select('name').orderBy('name').execute();
    assert.deepEqual(
      rows.map(({ name }) => name),
      names,
    );
  });

  it('still work after the connection of one was lost, without its changes', async (t) => {
    const url = await postgres.database();
    const store = await openPostgresStore(url, { dataDir: temporaryFolder(t) });
    t.after(() => store.close());
    const insert = (name: string, inside: () => Promise<unknown>) =>
      store.db.transaction().execute(async (trx) => {
        await trx.insertInto('settings').values({ name, value: 'on' }).execute();
        await inside();
        await trx
          .insertInto('settings')
          .values({ name: `${name}-2`, value: 'on' })
          .execute();
      });
    const cut = () =>
      postgres.run(
        url,
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and state = 'idle in transaction'`,
      );
    await assert.rejects(insert('lost', cut), { code: 'database_unreachable' });
    await insert('kept', async () => {});
    const rows = await store.db.selectFrom('settings').select('name').orderBy('name').execute();
    assert.deepEqual(
      rows.map(({ name }) => name),
      ['kept', 'kept-2'],
    );
  });
});
