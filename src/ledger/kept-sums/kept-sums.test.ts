import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { sql } from 'kysely';
import { ledgerOf, madeEntry } from '../../../test/support/ledger.ts';
import { createRandom } from '../../cli/demo-data/random.ts';
import type { LedgerEntry } from '../schema.ts';
import { sortedByGroup } from '../sliced-sums.ts';
import { addSums, type SumGroups, type SumsQuery, sumsOf } from '../sums.ts';
import { keepSums } from './keep.ts';
import { keepMissing } from './open.ts';
import { allSums } from './read.ts';
import { setFor } from './sets.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const now = Date.UTC(2026, 10, 21, 10, 30);

/** Requests of four days, some of them without a price, a model or an answer. */
function madeEntries(): LedgerEntry[] {
  const random = createRandom(5);
  return Array.from({ length: 300 }, (_, index) => {
    const outcome = random.pick(['ok', 'ok', 'failed', 'aborted'] as const);
    return madeEntry({
      id: `req_${index}`,
      startedAt: now - Math.floor(random.next() * 4 * DAY_MS),
      outcome,
      provider: random.pick(['openai', 'anthropic', null]),
      model: random.pick(['a', 'b', null]),
      connection: random.pick(['one', 'two', null]),
      keyId: random.pick(['key_1', 'key_2', null]),
      comboId: random.pick(['combo_1', null]),
      costUsd: random.pick([null, 0.1, 0.2, 0.7]),
      cacheSavingsUsd: random.pick([null, -0.1, 0.3]),
      servedTier: random.pick([null, 'priority']),
      billing: random.pick(['metered', 'plan'] as const),
      ttftMs: random.pick([null, 5]),
      tags: random.pick([[], ['team=core'], ['team=core', 'owner=ann', 'app=x'], ['owner=bob']]),
      ...(outcome === 'failed' ? { usage: null } : {}),
    });
  });
}

async function keptLedger(test: TestContext, entries: readonly LedgerEntry[] = madeEntries()) {
  const store = await ledgerOf(test, entries);
  await keepMissing(store, () => now);
  return store;
}

const since = now - 30 * DAY_MS;
const questions: SumsQuery[] = [
  { by: [], since },
  { by: ['hour'], since },
  { by: ['day'], since, timeZone: 'Europe/Vienna' },
  { by: ['day'], since, timeZone: 'Asia/Kolkata' },
  { by: ['week', 'outcome'], since: now - 3 * DAY_MS - 12_345, before: now - 5 * HOUR_MS - 1 },
  { by: ['month', 'model'], since },
  { by: ['provider'], since, only: { model: 'a' } },
  { by: ['day', 'key'], since },
  { by: ['key'], since, timeZone: 'Europe/Vienna' },
  { by: ['connection', 'model'], since, only: { connection: 'one' } },
  { by: ['combo'], since },
  { by: ['owner'], since },
  { by: ['day', 'team'], since },
  { by: ['tag'], since },
  { by: ['day'], since, only: { tag: 'team=core' } },
  { by: ['format'], since },
  { by: ['tier'], since },
  { by: ['day', 'model', 'outcome'], since, only: { format: 'openai-chat' } },
  { by: ['key', 'model'], since },
  { by: ['label:app'], since },
  { by: ['session'], since },
];

async function plainly(store: Awaited<ReturnType<typeof ledgerOf>>, query: SumsQuery) {
  const groups: SumGroups = new Map();
  addSums(groups, await sumsOf(store, query));
  return sortedByGroup(groups);
}

describe('sums that are kept', () => {
  it('are what the ledger says, however they are asked for', async (test) => {
    const store = await keptLedger(test);
    for (const query of questions)
      assert.deepEqual(await allSums(store, query), await plainly(store, query), JSON.stringify(query));
  });

  it('are read in place of the requests of all hours and days that have ended', async (test) => {
    const store = await keptLedger(test);
    const before = new Map<SumsQuery, unknown>();
    const kept = questions.filter((query) => setFor(query) !== null && query.before === undefined);
    const today = Math.floor(now / DAY_MS) * DAY_MS;
    for (const query of kept) before.set(query, await allSums(store, { ...query, before: today }));
    // Without the triggers that would take the sums away with them.
    for (const verb of ['insert', 'update', 'delete'])
      await sql.raw(`drop trigger usage_spans_${verb}`).execute(store.db);
    await store.db.deleteFrom('requests').execute();
    for (const query of kept)
      assert.deepEqual(await allSums(store, { ...query, before: today }), before.get(query));
    assert.ok(kept.length > 12);
  });

  it('give way to a request that comes late, to what it really used and to one that is gone', async (test) => {
    const store = await keptLedger(test);
    const at = now - 2 * DAY_MS;
    const count = async () => (await allSums(store, { by: [], since }))[0]?.requests;
    assert.equal(await count(), 300);
    const late = { id: 'late', started_at: at, format: 'x', status: 200, outcome: 'ok' } as const;
    const more = { streamed: 0, estimated: 1, duration_ms: 1, attempts: 1 } as const;
    await store.db
      .insertInto('requests')
      .values({ ...late, ...more })
      .execute();
    assert.equal(await count(), 301);
    assert.equal(await keepMissing(store, () => now), 2, 'one hour and one day are summed up anew');
    assert.equal(await count(), 301);
    await store.db.updateTable('requests').set({ cost_usd: 1_000 }).where('id', '=', 'late').execute();
    const dearest = (await allSums(store, { by: [], since }))[0]?.costUsd;
    assert.ok(Number(dearest) > 1_000);
    await keepMissing(store, () => now);
    await store.db.deleteFrom('requests').where('id', '=', 'late').execute();
    assert.equal(await count(), 300);
  });

  it('are not kept of a time that changed while it was summed up', async (test) => {
    const store = await ledgerOf(test, madeEntries());
    const at = Math.floor((now - 2 * DAY_MS) / HOUR_MS) * HOUR_MS;
    const summing = keepSums(store.working, HOUR_MS, at);
    await store.db
      .insertInto('usage_spans')
      .values({ step_ms: HOUR_MS, at, complete: 0 })
      .onConflict((one) => one.doNothing())
      .execute();
    await store.db.deleteFrom('usage_spans').execute();
    // Whichever comes first, the sums are right.
    const kept = await summing;
    const spans = await store.db.selectFrom('usage_spans').selectAll().where('complete', '=', 1).execute();
    assert.equal(spans.length, kept ? 1 : 0);
    assert.equal((await allSums(store, { by: [], since }))[0]?.requests, 300);
  });

  it('are not kept of an hour whose requests may still be running', async (test) => {
    const store = await keptLedger(test, [madeEntry({ id: 'req_1', startedAt: now - HOUR_MS })]);
    assert.deepEqual(
      (await store.db.selectFrom('usage_spans').select('at').execute()).map(({ at }) => at),
      [Math.floor(now / HOUR_MS) * HOUR_MS - HOUR_MS],
    );
    const { rows } =
      await sql`explain query plan select sum(requests) from usage_sums where grouping_name = 'total' and at >= 1 and at < 2`.execute(
        store.db,
      );
    assert.match(JSON.stringify(rows), /usage_sums_by_time \(grouping_name=\? AND at>\? AND at<\?\)/);
  });
});
