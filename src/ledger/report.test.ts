import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../../test/support/machine/folder.ts';
import { fc } from '../../test/support/machine/properties.ts';
import { ledgerOf, madeEntry } from '../../test/support/store/ledger.ts';
import { openStore } from '../store/database.ts';
import { ledgerRow } from './record.ts';
import { entryOfValues, recentRequests, totals } from './report.ts';
import type { LedgerEntry } from './schema.ts';
import { exact } from './sums.ts';

const ids = (rows: readonly LedgerEntry[]) => rows.map(({ id }) => id);

describe('the ledger', () => {
  it('gives every field back as it was recorded', async (test) => {
    const odd = madeEntry({
      id: 'req_2',
      startedAt: 2000,
      keyId: null,
      connectionId: null,
      connection: null,
      provider: null,
      requestedModel: null,
      model: null,
      status: 499,
      outcome: 'aborted',
      errorCode: 'client_closed',
      errorMessage: 'gone',
      streamed: false,
      usage: null,
      estimated: true,
      costUsd: null,
      priceSource: null,
      ttftMs: null,
      upstreamRequestId: null,
      userAgent: null,
    });
    const store = await ledgerOf(test, [madeEntry(), odd]);
    assert.deepEqual(await recentRequests(store, { limit: 10 }), [madeEntry(), odd]);
    // As a worker sends it: as JSON.
    for (const entry of [madeEntry({ innerComboIds: ['a', 'b'], streamed: false }), odd])
      assert.deepEqual(entryOfValues(JSON.parse(JSON.stringify(ledgerRow(entry)))), entry);
  });

  it('keeps the first entry, however often its id is recorded', async (test) => {
    const store = await ledgerOf(test, [madeEntry(), madeEntry({ costUsd: 99 })]);
    assert.deepEqual(await recentRequests(store, { limit: 10 }), [madeEntry()]);
  });

  it('shows the newest so many, the oldest of them first', async (test) => {
    const times = [5, 1, 4, 2, 3];
    const store = await ledgerOf(
      test,
      times.map((at) => madeEntry({ id: `req_${at}`, startedAt: at })),
    );
    assert.deepEqual(ids(await recentRequests(store, { limit: 3 })), ['req_3', 'req_4', 'req_5']);
    assert.deepEqual(ids(await recentRequests(store, { limit: 99, since: 4 })), ['req_4', 'req_5']);
    assert.deepEqual(ids(await recentRequests(store, { limit: 1, since: 2 })), ['req_5']);
    assert.deepEqual(await recentRequests(store, { limit: 0 }), []);
    assert.deepEqual(await recentRequests(store, { limit: 9, since: 6 }), []);
  });

  it('finds a text in any name, model, error, user agent or id, and takes % and _ literally', async (test) => {
    const named = {
      id: 'ONE',
      keyId: 'two',
      connection: 'three',
      provider: 'four',
      format: 'five',
      requestedModel: 'six',
      model: 'seven',
      errorCode: 'eight',
      errorMessage: 'nine 100%',
      upstreamRequestId: 'ten',
      userAgent: 'ele_ven\\',
    };
    const store = await ledgerOf(test, [madeEntry(named), madeEntry()]);
    const found = async (search: string) => ids(await recentRequests(store, { limit: 9, search }));
    for (const text of [
      'one',
      'two',
      'THREE',
      'four',
      'five',
      'six',
      'seven',
      'eight',
      'nine',
      'ten',
      'ele_',
      '0%',
      'n\\',
    ])
      assert.deepEqual(await found(text), ['ONE'], text);
    for (const text of ['e%n', 'e_even', 'nothing', "' or 1=1 --"])
      assert.deepEqual(await found(text), [], text);
    assert.equal((await found('')).length, 2);
    assert.equal((await found('ok')).length, 2, 'the outcome');
  });
});

describe('the totals', () => {
  it('of nothing are 0', async (test) => {
    const store = await ledgerOf(test, [madeEntry()]);
    assert.deepEqual(await totals(store, { since: 1001 }), {
      requests: 0,
      failed: 0,
      aborted: 0,
      inputTokens: 0,
      outputTokens: 0,
      costUsd: 0,
      cacheSavingsUsd: 0,
      unpriced: 0,
      unpricedTokens: 0,
    });
  });

  it('count requests by outcome and tokens of every bucket, since a time', async (test) => {
    const store = await ledgerOf(test, [
      madeEntry({ id: 'early', startedAt: 999 }),
      madeEntry({ id: 'a' }),
      madeEntry({ id: 'b', outcome: 'failed', usage: null, costUsd: null }),
      madeEntry({ id: 'c', outcome: 'failed', usage: null, costUsd: 0 }),
      madeEntry({ id: 'd', outcome: 'aborted' }),
    ]);
    assert.deepEqual(await totals(store, { since: 1000 }), {
      requests: 4,
      failed: 2,
      aborted: 1,
      inputTokens: 2 * 9_743_210,
      outputTokens: 2 * 10_865,
      costUsd: 0.5,
      cacheSavingsUsd: 0.5,
      unpriced: 0,
      unpricedTokens: 0,
    });
  });

  it('have no cost when none is known, and 0 when all cost nothing', async (test) => {
    const unknown = await ledgerOf(test, [madeEntry({ costUsd: null })]);
    const { costUsd, unpriced } = await totals(unknown, { since: 0 });
    assert.deepEqual([costUsd, unpriced], [null, 1]);
    const free = await ledgerOf(test, [madeEntry({ costUsd: 0 }), madeEntry({ id: 'x', costUsd: 0 })]);
    assert.deepEqual((await totals(free, { since: 0 })).costUsd, 0);
  });

  it('of costs are exact decimals', async (test) => {
    const tenths = await ledgerOf(test, [madeEntry({ costUsd: 0.1 }), madeEntry({ id: 'b', costUsd: 0.2 })]);
    assert.equal((await totals(tenths, { since: 0 })).costUsd, 0.3);
    assert.equal(exact(0.1 + 0.2), 0.3);
    assert.equal(exact(2_347.446161000001), 2_347.446161);
    assert.equal(exact(29_999.999_939_999_998), 29_999.999_94, 'also where there are many dollars');
    const micro = fc.array(fc.bigInt({ min: 0n, max: 500_000_000n }), { minLength: 1, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(micro, async (costs) => {
        const store = await openStore(temporaryFolder(test));
        const rows = costs.map((cost, index) => [
          `r${index}`,
          1,
          'f',
          200,
          'ok',
          0,
          0,
          Number(cost) / 1e6,
          1,
          1,
        ]);
        const columns = [
          'id',
          'started_at',
          'format',
          'status',
          'outcome',
          'streamed',
          'estimated',
          'cost_usd',
          'duration_ms',
          'attempts',
        ];
        store.insertMany('requests', columns, rows);
        const { costUsd } = await totals(store, { since: 0 });
        await store.close();
        const sum = costs.reduce((total, cost) => total + cost, 0n);
        assert.equal(costUsd, Number(`${sum / 1_000_000n}.${String(sum % 1_000_000n).padStart(6, '0')}`));
      }),
      { numRuns: 25 },
    );
  });

  it('of very many tiny costs do not drift', async (test) => {
    const store = await openStore(temporaryFolder(test));
    test.after(() => store.close());
    const columns = [
      'id',
      'started_at',
      'format',
      'status',
      'outcome',
      'streamed',
      'estimated',
      'cost_usd',
      'duration_ms',
      'attempts',
    ];
    const rows = Array.from({ length: 20_000 }, (_, index) => [
      `r${index}`,
      1,
      'f',
      200,
      'ok',
      0,
      0,
      0.0000001,
      1,
      1,
    ]);
    store.insertMany('requests', columns, [...rows, ['big', 1, 'f', 200, 'ok', 0, 0, 1000, 1, 1]]);
    assert.equal((await totals(store, { since: 0 })).costUsd, 1000.002);
  });
});
