import assert from 'node:assert/strict';
import { it } from 'node:test';
import { CompiledQuery } from 'kysely';
import { ledgerOf, madeEntry } from '../../test/support/store/ledger.ts';
import type { Store } from '../store/database.ts';
import { slicedSums } from './sliced-sums.ts';
import { type SumsQuery, sumColumns } from './sums.ts';

async function planOf({ db }: Pick<Store, 'db'>, query: SumsQuery): Promise<string> {
  const { parameters, sql } = sumColumns(db, query).select.compile();
  const { rows } = await db.executeQuery(CompiledQuery.raw(`explain query plan ${sql}`, [...parameters]));
  return JSON.stringify(rows);
}

it('reads the requests of a time alone, whatever they are grouped by', async (test) => {
  const store = await ledgerOf(test, []);
  for (const by of ['key', 'connection', 'model', 'session', 'team', 'tag'] as const)
    for (const end of [{}, { before: 20 }])
      assert.match(
        await planOf(store, { by: [by], since: 10, ...end }),
        /requests_by_time \(started_at>/,
        by,
      );
  assert.match(
    await planOf(store, { by: ['model'], since: 10, only: { key_id: 'key_1' } }),
    /requests_by_key \(key_id=\? AND started_at>\?\)/,
  );
});

it('sums up the requests of one key without a look at those of others for each slice', async (test) => {
  const entries = Array.from({ length: 60 }, (_, index) =>
    madeEntry({ id: `req_${index}`, startedAt: 1_000 + index, keyId: index % 20 === 0 ? 'key_1' : 'key_2' }),
  );
  const store = await ledgerOf(test, entries);
  let queries = 0;
  const counting = new Proxy(store.db, {
    get(db, name) {
      if (name === 'selectFrom') queries += 1;
      const value = Reflect.get(db, name);
      return typeof value === 'function' ? value.bind(db) : value;
    },
  });
  const sums = await slicedSums({ db: counting }, { by: [], since: 0, only: { key_id: 'key_1' } }, 2);
  assert.equal(sums[0]?.requests, 3);
  // Two slices, each of which is looked for and summed up.
  assert.equal(queries, 4);
});
