import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import postgres from 'postgres';
import { hasPostgres } from '../../../test/support/brokers/postgres.ts';
import {
  type Engine,
  type PostgresServer,
  postgresEngine,
  postgresServer,
  sqliteEngine,
} from '../../../test/support/store/engines.ts';
import { keepAll } from '../../../test/support/store/kept-sums.ts';
import { ledgerOf, madeEntry } from '../../../test/support/store/ledger.ts';
import { createRandom } from '../../cli/demo-data/random.ts';
import type { Condition } from '../../http/resource.ts';
import type { PostgresStore, SqliteStore, Store } from '../../store/database.ts';
import { openPostgresStore } from '../../store/postgres/store.ts';
import { createWriter } from '../../store/writer.ts';
import { createLedger } from '../record.ts';
import { requestCounts } from '../requests/counts.ts';
import type { LedgerEntry } from '../schema.ts';
import { sortedByGroup } from '../sliced-sums.ts';
import { addSums, type SumGroups, type SumsQuery, sumsOf } from '../sums.ts';
import { topGroups } from '../top.ts';
import { topKeys } from '../top-keys.ts';
import { keepSums } from './keep.ts';
import { keepSumsOnServer } from './keep-on-server.ts';
import { allSums } from './read.ts';
import { countOfRuns } from './run-totals.ts';
import { setFor } from './sets.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const now = Date.UTC(2026, 10, 21, 10, 30);
const anHour = (hours: number) => Math.floor(now / HOUR_MS - hours) * HOUR_MS;

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

async function filled(store: Store, entries: readonly LedgerEntry[]): Promise<Store> {
  const writer = createWriter(store, { flushMs: 3_600_000 });
  const ledger = createLedger(writer);
  for (const entry of entries) ledger.record(entry);
  await writer.stop();
  return store;
}

async function keptLedger(
  test: TestContext,
  { open }: Engine,
  entries: readonly LedgerEntry[] = madeEntries(),
): Promise<Store> {
  const store = await filled(await open(test), entries);
  await keepAll(store, now);
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
  { by: ['hour', 'team'], since: anHour(30) },
  { by: ['day', 'owner'], since, timeZone: 'Europe/Vienna', only: { owner: 'ann' } },
  { by: ['tag'], since: now - 3 * DAY_MS - 3 * HOUR_MS - 5, before: now - 7 * HOUR_MS },
  { by: ['connection', 'model'], since: anHour(50), before: anHour(3) },
  { by: ['connection'], since: anHour(20), before: anHour(10) },
  { by: ['week', 'combo'], since, timeZone: 'Asia/Kolkata' },
];

async function plainly(store: Store, query: SumsQuery) {
  const groups: SumGroups = new Map();
  addSums(groups, await sumsOf(store, query));
  return sortedByGroup(groups);
}

/** A request that began two days ago. */
const lateRow = {
  id: 'late',
  started_at: now - 2 * DAY_MS,
  format: 'x',
  status: 200,
  outcome: 'ok',
  streamed: 0,
  estimated: 1,
  duration_ms: 1,
  attempts: 1,
} as const;

const countIn = async (store: Store) => (await allSums(store, { by: [], since }))[0]?.requests;

async function completeSpans({ db }: Store): Promise<number> {
  const spans = await db.selectFrom('usage_spans').select('at').where('complete', '=', 1).execute();
  return spans.length;
}

/** Those that would take the sums of a changed request away with it. */
async function dropTriggers(store: Store): Promise<void> {
  for (const verb of ['insert', 'update', 'delete']) {
    const name = `usage_spans_${verb}`;
    await sql.raw(`drop trigger ${name}${store.kind === 'postgres' ? ' on requests' : ''}`).execute(store.db);
  }
}

function keptSums(engine: Engine): void {
  it('equal the ledger for every query', async (test) => {
    const store = await keptLedger(test, engine);
    for (const query of questions)
      assert.deepEqual(await allSums(store, query), await plainly(store, query), JSON.stringify(query));
    const sum =
      madeEntries().reduce((cents, { costUsd }) => cents + Math.round(100 * (costUsd ?? 0)), 0) / 100;
    assert.equal((await allSums(store, { by: [], since }))[0]?.costUsd, sum, 'exactly');
  });

  it('are read in place of the requests of all hours and days that have ended', async (test) => {
    const store = await keptLedger(test, engine);
    const before = new Map<SumsQuery, unknown>();
    const kept = questions.filter((query) => setFor(query) !== null && query.before === undefined);
    const today = Math.floor(now / DAY_MS) * DAY_MS;
    for (const query of kept) before.set(query, await allSums(store, { ...query, before: today }));
    await dropTriggers(store);
    await store.db.deleteFrom('requests').execute();
    for (const query of kept)
      assert.deepEqual(await allSums(store, { ...query, before: today }), before.get(query));
    assert.ok(kept.length > 12);
  });

  it('are read in place of the requests of the hours at both ends of a time, whatever they are grouped by', async (test) => {
    const store = await keptLedger(test, engine);
    const groupings = ['connection', 'combo', 'team', 'owner', 'tag', 'model', 'outcome'] as const;
    const times = [
      { since: anHour(90), before: anHour(1) },
      { since: anHour(60), before: anHour(30) },
      { since: anHour(9), before: anHour(5) },
    ];
    const queries = groupings.flatMap((by) => times.map((time): SumsQuery => ({ by: [by], ...time })));
    const before = new Map<SumsQuery, unknown>();
    for (const query of queries) before.set(query, await plainly(store, query));
    await dropTriggers(store);
    await store.db.deleteFrom('requests').execute();
    for (const query of queries)
      assert.deepEqual(await allSums(store, query), before.get(query), JSON.stringify(query));
  });

  it('of an earlier version are packed in the background, and give the same result before', async (test) => {
    const store = await keptLedger(test, engine);
    const packed = async () =>
      (await store.db.selectFrom('packed_sums').select(['grouping_name', 'step_ms', 'at']).execute()).length;
    const all = await packed();
    assert.ok(all > 400);
    // As an earlier version leaves them, which knows nothing of what is packed.
    for (const table of ['packed_sums', 'sum_rollups'] as const) await store.db.deleteFrom(table).execute();
    await sql`update usage_spans set packed = 0`.execute(store.db);
    const same = async () => {
      for (const query of questions)
        assert.deepEqual(await allSums(store, query), await plainly(store, query), JSON.stringify(query));
    };
    await same();
    await keepAll(store, now);
    assert.equal(await packed(), all);
    await same();
    // What such a version makes of a changed hour and day is not what was packed before.
    await store.db.insertInto('requests').values(lateRow).execute();
    for (const stepMs of [HOUR_MS, DAY_MS])
      await store.db
        .insertInto('usage_spans')
        .values({ step_ms: stepMs, at: Math.floor(lateRow.started_at / stepMs) * stepMs, complete: 0 })
        .execute();
    await same();
    await keepAll(store, now);
    await same();
  });

  it('include counts of values that equal the ledger', async (test) => {
    const store = await keptLedger(test, engine);
    const today = Math.floor(now / DAY_MS) * DAY_MS;
    const conditions = (from: number, before?: number): Condition[] => [
      { attribute: 'started_at', operator: '>=', value: new Date(from).toISOString() },
      ...(before === undefined
        ? []
        : [{ attribute: 'started_at', operator: '<', value: new Date(before).toISOString() } as const]),
    ];
    const times = [
      conditions(since),
      conditions(now - 2 * DAY_MS - 5_000, now - 3_600_000),
      [],
      conditions(today - DAY_MS, today),
    ];
    for (const time of times)
      for (const top of [1, 3, 100]) {
        const groups = [[...time, { attribute: 'top', operator: '=', value: top } as const]];
        // What more is filtered by is counted of the requests.
        const always: Condition = { attribute: 'duration_ms', operator: '>=', value: 0 };
        const plain = await requestCounts(store, [[...(groups[0] ?? []), always]], now);
        assert.deepEqual(await requestCounts(store, groups, now), plain);
      }
    await store.db.deleteFrom('value_counts').where('step_ms', '=', HOUR_MS).execute();
    const whole = [conditions(today - DAY_MS, today)];
    const before = await requestCounts(store, whole, now);
    assert.ok(before.find(({ id }) => id === 'outcome:ok')?.requests, 'of the day alone');
    await store.db
      .insertInto('requests')
      .values({ ...lateRow, started_at: today - 1, status: 418 })
      .execute();
    const late = async () => (await requestCounts(store, whole, now)).find(({ id }) => id === 'status:418');
    assert.equal((await late())?.requests, 1);
    await sql`update usage_spans set counted = 0 where step_ms = ${HOUR_MS}`.execute(store.db);
    await keepAll(store, now);
    assert.equal((await late())?.requests, 1);
    const days = await store.db
      .selectFrom('value_counts')
      .select('at')
      .where('step_ms', '=', DAY_MS)
      .distinct()
      .execute();
    assert.equal(days.length, 3, 'and of all days that have ended');
  });

  it('give the most expensive keys and the rest with the same total as all keys', async (test) => {
    const random = createRandom(9);
    const entries = madeEntries().map((entry) => ({
      ...entry,
      keyId: random.pick([null, ...Array.from({ length: 20 }, (_, index) => `key_${index}`)]),
    }));
    const store = await keptLedger(test, engine, entries);
    for (const time of [{ since }, { since: now - 2 * DAY_MS - 7, before: now - HOUR_MS }])
      for (const top of [1, 7, 20]) {
        const query: SumsQuery = { by: ['key'], ...time };
        const told = await topKeys(store, query, top, now);
        assert.deepEqual(told, topGroups(await plainly(store, query), ['key'], top));
      }
    assert.equal(await topKeys(store, { by: ['key'], since }, 21, now), null, 'there is no rest');
  });

  it('include a count of the runs of tools that equals the ledger', async (test) => {
    const random = createRandom(11);
    const entries = madeEntries().map((entry, index) => ({
      ...entry,
      session: random.pick([
        null,
        ...Array.from({ length: 60 }, (_, run) => `run-${run + Math.floor(index / 20)}`),
      ]),
    }));
    const store = await keptLedger(test, engine, entries);
    const counted = async () => {
      const { rows } = await sql<{ count: number }>`select count(*) as count from (
        select distinct session, key_id from requests where session is not null) as run`.execute(store.db);
      assert.equal(await countOfRuns(store.db), rows[0]?.count);
    };
    const kept = async () => (await store.db.selectFrom('run_totals').selectAll().executeTakeFirst())?.runs;
    await counted();
    assert.ok(Number(await kept()) > 30);
    // One run more, one that becomes longer at its beginning, and the first request of all is gone.
    const first = entries
      .toSorted((one, other) => one.startedAt - other.startedAt)
      .find(({ session }) => session);
    const changes = [
      () =>
        store.db
          .insertInto('requests')
          .values({ ...lateRow, session: 'late' })
          .execute(),
      () =>
        store.db
          .insertInto('requests')
          .values({ ...lateRow, id: 'earlier', started_at: now - 3 * DAY_MS, session: 'late' })
          .execute(),
      () => store.db.deleteFrom('requests').where('id', '=', String(first?.id)).execute(),
      () =>
        store.db
          .insertInto('requests')
          .values({ ...lateRow, id: 'now', started_at: now, session: 'new' })
          .execute(),
    ];
    for (const change of changes) {
      await change();
      await counted();
      await keepAll(store, now);
      await counted();
    }
    await keepAll(store, now + 5 * HOUR_MS);
    await counted();
    assert.equal(await kept(), await countOfRuns(store.db), 'all hours have ended');
  });

  it('are replaced after a late request, a corrected usage or a removed request', async (test) => {
    const store = await keptLedger(test, engine);
    assert.equal(await countIn(store), 300);
    await store.db.insertInto('requests').values(lateRow).execute();
    assert.equal(await countIn(store), 301);
    assert.equal(await keepAll(store, now), 2, 'one hour and one day are summed up anew');
    assert.equal(await countIn(store), 301);
    await store.db.updateTable('requests').set({ cost_usd: 1_000 }).where('id', '=', 'late').execute();
    const dearest = (await allSums(store, { by: [], since }))[0]?.costUsd;
    assert.ok(Number(dearest) > 1_000);
    await keepAll(store, now);
    await store.db.deleteFrom('requests').where('id', '=', 'late').execute();
    assert.equal(await countIn(store), 300);
  });

  it('are not stored for an hour whose requests may still be running', async (test) => {
    const store = await keptLedger(test, engine, [madeEntry({ id: 'req_1', startedAt: now - HOUR_MS })]);
    assert.deepEqual(
      (await store.db.selectFrom('usage_spans').select('at').execute()).map(({ at }) => at),
      [anHour(1)],
    );
  });
}

describe('sums that are kept in the file', () => {
  keptSums(sqliteEngine);

  it('are not stored for a span that changed while it was summed up', async (test) => {
    const store: SqliteStore = await ledgerOf(test, madeEntries());
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
    assert.equal(await completeSpans(store), kept ? 1 : 0);
    assert.equal(await countIn(store), 300);
  });

  it('are found by their time', async (test) => {
    const store = await keptLedger(test, sqliteEngine, []);
    const { rows } =
      await sql`explain query plan select sum(requests) from usage_sums where grouping_name = 'total' and at >= 1 and at < 2`.execute(
        store.db,
      );
    assert.match(JSON.stringify(rows), /usage_sums_by_time \(grouping_name=\? AND at>\? AND at<\?\)/);
  });
});

/** What a gateway writes that knows nothing of sums, and may take its time. */
const lateInsert = `insert into requests (id, started_at, format, status, outcome, streamed, estimated, duration_ms, attempts)
  values ('late', ${lateRow.started_at}, 'x', 200, 'ok', 0, 1, 1, 1)`;

describe('sums that are kept on a server', { skip: !hasPostgres }, () => {
  const server: PostgresServer = postgresServer();
  keptSums(postgresEngine(server));

  it('have a request whose writing had begun before they were made, by a gateway of an earlier version', async (test) => {
    const url = await server.database();
    const store = await openPostgresStore(url, {});
    test.after(() => store.close());
    await filled(store, madeEntries());
    const other = postgres(url, { max: 1 });
    test.after(() => other.end());
    const begun = await other.reserve();
    await begun.unsafe(`begin; ${lateInsert}`);
    const keeping = keepAll(store, now);
    // It waits for the writer, and has made the rows of the spans before that.
    await until(async () => (await store.db.selectFrom('usage_spans').select('at').execute()).length > 0);
    assert.equal(await completeSpans(store), 0);
    await begun.unsafe('commit');
    begun.release();
    assert.ok((await keeping) > 90);
    assert.equal(await countIn(store), 301);
  });

  it('are not stored for a span into which a request is being written', async (test) => {
    const url = await server.database();
    const store = await openPostgresStore(url, {});
    test.after(() => store.close());
    await filled(store, madeEntries());
    const spans = [{ stepMs: DAY_MS, at: Math.floor(lateRow.started_at / DAY_MS) * DAY_MS }];
    const other = postgres(url, { max: 1 });
    test.after(() => other.end());
    // Written after the moment that the sums are of, and before they are kept.
    const meanwhile: PostgresStore = {
      ...store,
      inSnapshot: (work) =>
        store.inSnapshot(async (db) => {
          await db.selectFrom('usage_spans').select('at').execute();
          await other.unsafe(lateInsert);
          return work(db);
        }),
    };
    assert.equal(await keepSumsOnServer(meanwhile, spans), 0);
    assert.equal(await completeSpans(store), 0);
    assert.equal(await countIn(store), 301);
    assert.equal(await keepSumsOnServer(store, spans), 1);
    assert.equal(await countIn(store), 301);
  });

  it('are removed with a partition that somebody drops', async (test) => {
    const url = await server.database();
    const store = await openPostgresStore(url, {});
    test.after(() => store.close());
    const before = Date.UTC(2026, 8, 15);
    await filled(store, [...madeEntries(), madeEntry({ id: 'september', startedAt: before })]);
    const count = async () => (await allSums(store, { by: [], since: before }))[0]?.requests;
    await keepAll(store, now);
    assert.equal(await count(), 301);
    await server.run(url, 'drop table requests_2026_09');
    await keepAll(store, now);
    assert.equal(await count(), 300);
    assert.equal(await keepAll(store, now), 0, 'there is nothing left to do');
  });
});

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await setImmediate();
}
