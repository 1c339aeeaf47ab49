import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import postgres from 'postgres';
import { idsOf, keyReader } from '../../src/access/keys/key-index.ts';
import { keyPages } from '../../src/access/keys/key-pages.ts';
import { keyStore } from '../../src/access/store.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { hasPostgres } from '../support/brokers/postgres.ts';
import { waitFor } from '../support/gateway/gateway.ts';
import { postgresServer } from '../support/store/engines.ts';

describe('changes of keys on a PostgreSQL server', { skip: !hasPostgres }, () => {
  const { database } = postgresServer();

  it('are numbered in the order in which their transactions end, also those of other programs', async (test) => {
    const url = await database();
    const store = await openPostgresStore(url, { follow: false });
    test.after(() => store.close());
    const [early, late, looking] = [0, 1, 2].map(() => postgres(url, { max: 1 }));
    assert.ok(early && late && looking);
    test.after(() => Promise.all([early, late, looking].map((sql) => sql.end({ timeout: 1 }))));
    const insert = (id: string) =>
      `insert into keys (id, name, prefix, hash, created_at) values ('${id}', '${id}', 'sk-', '${id}', 1)`;
    const keys = keyStore(store);
    const read = keyReader(keys, keyPages(store));
    await read();

    await early.unsafe(`begin; ${insert('key_1')}`);
    const other = late.unsafe(insert('key_2')).then(() => {});
    await waitFor('the other writer, who waits', async () => {
      const rows = await looking`select 1 from pg_stat_activity
        where wait_event_type = 'Lock' and query like 'insert into keys%' and datname = current_database()`;
      return rows.length > 0;
    });
    await early.unsafe(`${insert('key_3')}; commit`);
    await other;
    const { ids } = await keys.changesAfter(0);
    assert.deepEqual(ids.toSorted(), ['key_1', 'key_2', 'key_3']);
    const numbers = await looking`select number, key_id from key_changes order by number`;
    assert.deepEqual(
      numbers.map((row) => row['key_id']),
      ['key_1', 'key_3', 'key_2'],
    );
    assert.deepEqual(idsOf(await read()).toSorted(), ['key_1', 'key_2', 'key_3']);
  });
});
