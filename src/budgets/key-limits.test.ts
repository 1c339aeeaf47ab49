import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { sql } from 'kysely';
import { temporaryFolder } from '../../test/support/machine/folder.ts';
import { keyStore } from '../access/store.ts';
import { openStore } from '../store/database.ts';
import { limitedKeys } from './key-limits.ts';
import { budgetStore } from './store.ts';

const now = Date.UTC(2026, 10, 21, 10);

async function opened(test: TestContext) {
  const store = await openStore(temporaryFolder(test));
  test.after(() => store.close());
  const keys = limitedKeys(store, () => now);
  /** Lets no budget of a metric be written, as a full disk would. */
  const breakBudgets = (metric: string) =>
    sql
      .raw(
        `create trigger broken before insert on budgets when new.metric = '${metric}' begin select raise(abort, 'no space'); end`,
      )
      .execute(store.db);
  return {
    store,
    keys,
    breakBudgets,
    stored: async () => ({
      keys: (await keyStore(store).list()).map(({ name }) => name),
      budgets: (await budgetStore(store).list()).map(({ limit, metric, unpriced }) => [
        metric,
        limit,
        unpriced,
      ]),
    }),
  };
}

describe('a key and its limits', () => {
  it('are written together, or neither is', async (test) => {
    const { breakBudgets, keys, stored } = await opened(test);
    await breakBudgets('usd');
    await assert.rejects(keys.create({ name: 'agent', rpm: 60, budget_usd: 5 }), /no space/);
    assert.deepEqual(await stored(), { keys: [], budgets: [] });
  });

  it('are changed together, or neither is', async (test) => {
    const { breakBudgets, keys, stored } = await opened(test);
    const { row } = await keys.create({ name: 'agent', rpm: 60 });
    await breakBudgets('tokens');
    await assert.rejects(keys.update(row, { name: 'other', rpm: 10, tpm: 1_000 }), /no space/);
    assert.deepEqual(await stored(), { keys: ['agent'], budgets: [['requests', 60, 'refuse']] });
  });

  it('accept a period and a rule for unpriced models only with an amount', async (test) => {
    const { keys, stored } = await opened(test);
    for (const input of [{ budget_period: 'day' }, { budget_unpriced: 'allow' }])
      await assert.rejects(keys.create({ name: 'agent', ...input }), { param: Object.keys(input)[0] });
    assert.deepEqual((await stored()).keys, []);
    const { row } = await keys.create({ name: 'agent', budget_usd: 5 });
    assert.equal(row['budget_unpriced'], 'refuse');
    const allowing = await keys.update(row, { budget_unpriced: 'allow' });
    assert.deepEqual([allowing['budget_usd'], allowing['budget_unpriced']], [5, 'allow']);
    const weekly = await keys.update(row, { budget_period: 'week' });
    assert.deepEqual([weekly['budget_period'], weekly['budget_unpriced']], ['week', 'allow']);
    assert.deepEqual((await stored()).budgets, [['usd', 5, 'allow']]);
  });
});
