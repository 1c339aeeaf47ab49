import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasPostgres } from '../../../test/support/brokers/postgres.ts';
import {
  type Engine,
  postgresEngine,
  postgresServer,
  sqliteEngine,
} from '../../../test/support/store/engines.ts';
import { madeEntry } from '../../../test/support/store/ledger.ts';
import { createLedger } from '../../ledger/record.ts';
import { createWriter } from '../../store/writer.ts';
import { keyStore } from '../store.ts';
import { latestUsedKeys } from './latest-use.ts';
import { keyPageQuery } from './page.ts';

const now = Date.UTC(2026, 10, 21, 10);

/** Keys in the order of their last use: the first has the latest 1,200 requests, and one in three was never used. */
function latestUse({ open }: Engine): void {
  it('is found by the latest requests for the first pages, and for all keys', async (test) => {
    const store = await open(test);
    const keys = keyStore(store, () => now);
    const ids: string[] = [];
    for (let index = 0; index < 30; index += 1)
      ids.push((await keys.add({ name: `key ${index}`, models: null, expiresAt: null })).record.id);
    const writer = createWriter(store, { flushMs: 3_600_000 });
    const ledger = createLedger(writer);
    let count = 0;
    const use = (keyId: string | null, startedAt: number) => {
      count += 1;
      ledger.record(madeEntry({ id: `req_${count}`, keyId, startedAt }));
    };
    for (let index = 0; index < 1_200; index += 1) use(ids[0] ?? null, now - index);
    // Two keys at a time have the same last use, and each was used before.
    for (let index = 1; index < 20; index += 1)
      for (const before of [0, 60_000])
        use(ids[index] ?? null, now - 5_000 - before - Math.floor(index / 2) * 100);
    use('key_removed', now);
    use(null, now);
    await writer.stop();
    const all = (await keys.list()).toSorted(
      (one, other) =>
        (other.lastUsedAt ?? 0) - (one.lastUsedAt ?? 0) ||
        one.createdAt - other.createdAt ||
        (one.id < other.id ? -1 : 1),
    );
    const sort = [{ attribute: 'last_used_at', descending: true }];
    for (const [offset, limit] of [
      [0, 1],
      [0, 5],
      [7, 4],
      [15, 10],
      [25, 10],
    ] as const) {
      const query = keyPageQuery({ groups: [], sort, ignoreCase: false, limit, offset });
      assert.ok(query);
      const page = await keys.page(query);
      const names = page.records.map(({ name }) => name);
      assert.deepEqual(
        names,
        all.slice(offset, offset + limit).map(({ name }) => name),
      );
      assert.equal(page.count, 30);
    }
    assert.deepEqual(await latestUsedKeys(store.db, 1), [ids[0]], 'the latest thousand are enough');
    assert.ok(Number((await latestUsedKeys(store.db, 11))?.length) >= 11, 'a few thousand are');
    assert.equal(await latestUsedKeys(store.db, 21), null, 'no more were used');
  });
}

describe('the last use of keys in a file', () => latestUse(sqliteEngine));

describe('the last use of keys on a server', { skip: !hasPostgres }, () =>
  latestUse(postgresEngine(postgresServer())),
);
