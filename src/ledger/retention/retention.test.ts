import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { sql } from 'kysely';
import { hasPostgres } from '../../../test/support/brokers/postgres.ts';
import {
  type Engine,
  postgresEngine,
  postgresServer,
  sqliteEngine,
} from '../../../test/support/store/engines.ts';
import { keepAll } from '../../../test/support/store/kept-sums.ts';
import { madeEntry } from '../../../test/support/store/ledger.ts';
import { createRandom } from '../../cli/demo-data/random.ts';
import { createSchedule } from '../../lib/time/schedule.ts';
import type { Store } from '../../store/database.ts';
import { takeLease } from '../../store/lease.ts';
import { createWriter } from '../../store/writer.ts';
import { allSums, countOfRequests } from '../kept-sums/read.ts';
import { createLedger } from '../record.ts';
import type { SumsQuery } from '../sums.ts';
import { archiveDay } from './archive.ts';
import { openRetention } from './open.ts';
import { prunable, pruneLedger, pruneTime } from './prune.ts';

const DAY_MS = 86_400_000;
const now = Date.UTC(2026, 10, 21, 10, 30);
const before = pruneTime(32, now);
/** Four months back, and some within the days that are kept. */
const first = now - 120 * DAY_MS;
const REQUESTS = 2_400;

async function filled(test: TestContext, { open }: Engine, entries: number = REQUESTS): Promise<Store> {
  const store = await open(test);
  const writer = createWriter(store, { flushMs: 3_600_000 });
  const ledger = createLedger(writer);
  const random = createRandom(7);
  for (let index = 0; index < entries; index += 1)
    ledger.record(
      madeEntry({
        id: `req_${index}`,
        // Few days, so that days have many.
        startedAt:
          first + Math.floor((random.next() * 12) % 12) * 10 * DAY_MS + Math.floor(random.next() * DAY_MS),
        outcome: random.pick(['ok', 'ok', 'failed'] as const),
        provider: random.pick(['openai', 'anthropic', null]),
        model: random.pick(['a', 'b', null]),
        keyId: random.pick(['key_1', 'key_2', null]),
        // A server adds fractions of two alone without a rest.
        costUsd: random.pick([null, 0.125, 0.25, 0.75]),
        tags: random.pick([[], ['team=core'], ['team=core', 'owner=ann']]),
      }),
    );
  await writer.stop();
  return store;
}

const alone = <T>(work: () => Promise<T>) => work();

const since = first - (first % DAY_MS);
const questions: SumsQuery[] = [
  { by: [], since },
  { by: ['hour', 'outcome'], since },
  { by: ['day'], since },
  { by: ['month', 'model'], since },
  { by: ['month', 'model'], since, timeZone: 'Europe/Vienna' },
  { by: ['day', 'key'], since },
  { by: ['month'], since, only: { key_id: 'key_1' } },
  { by: ['team'], since },
  { by: ['owner'], since, before: before + 5 * DAY_MS },
  { by: ['tag'], since },
  { by: ['connection', 'model'], since },
];

/** One line for each group of each question. */
async function answers(store: Store): Promise<string[]> {
  const all = [];
  for (const query of questions)
    for (const sums of await allSums(store, query)) all.push(JSON.stringify([query, sums]));
  return all;
}

const left = async ({ db }: Store) =>
  Number(
    (
      await db
        .selectFrom('requests')
        .select(({ fn }) => fn.countAll<number>().as('n'))
        .executeTakeFirst()
    )?.n,
  );

function retention(engine: Engine): void {
  it('removes old requests, and reports stay as they were', async (test) => {
    const store = await filled(test, engine);
    const earlier = await answers(store);
    const { oldest, requests } = await prunable(store, before);
    assert.ok(requests > 1_000 && requests < REQUESTS && Number(oldest) < before);
    assert.deepEqual(await pruneLedger({ store, before, alone }), { requests, done: true });
    assert.equal(await left(store), REQUESTS - requests);
    assert.equal(await countOfRequests(store), REQUESTS - requests);
    assert.deepEqual(await answers(store), earlier);
    await keepAll(store, now);
    assert.deepEqual(await answers(store), earlier);
    assert.deepEqual(await pruneLedger({ store, before, alone }), { requests: 0, done: true });
  });

  it('resumes where it was interrupted, at any step', async (test) => {
    const store = await filled(test, engine);
    const earlier = await answers(store);
    const day = Math.floor(Number((await prunable(store, before)).oldest) / DAY_MS) * DAY_MS;
    await archiveDay(store, day);
    assert.deepEqual(await answers(store), earlier, 'with sums of requests that are still there');
    await store.db
      .deleteFrom('requests')
      .where('started_at', '<', day + DAY_MS / 2)
      .execute();
    await keepAll(store, now);
    assert.deepEqual(await answers(store), earlier, 'with a part of them removed');
    let steps = 0;
    const stopped = () => ++steps > 2;
    const cut = await pruneLedger({ store, before, alone, stopped });
    assert.equal(cut?.done, false);
    assert.deepEqual(await answers(store), earlier);
    assert.equal((await pruneLedger({ store, before, alone }))?.done, true);
    assert.deepEqual(await answers(store), earlier);
  });

  it('is done by one process at a time, and leaves what is younger', async (test) => {
    const store = await filled(test, engine, 50);
    const lease = await takeLease(store, 'ledger retention', 60_000);
    assert.equal(await pruneLedger({ store, before, alone }), null);
    await lease?.release();
    assert.deepEqual(await pruneLedger({ store, before: since, alone }), { requests: 0, done: true });
    assert.equal(await left(store), 50);
  });
}

describe('the retention of the ledger in a file', () => {
  retention(sqliteEngine);

  it('reads no more than a batch for each that it deletes', async (test) => {
    const store = await filled(test, sqliteEngine, 10);
    const { rows } = await sql<{ detail: string }>`explain query plan delete from requests where id in (
      select id from requests where started_at >= 1 and started_at < 2 order by started_at limit 500)`.execute(
      store.db,
    );
    const plan = rows.map(({ detail }) => detail).join('\n');
    assert.match(plan, /SEARCH requests USING PRIMARY KEY \(id=\?\)/);
    assert.match(plan, /requests_by_time \(started_at>\? AND started_at<\?\)/);
  });

  it('runs on schedule, and reports what it removed', async (test) => {
    const store = await filled(test, sqliteEngine, 200);
    test.mock.timers.enable({ apis: ['setInterval'] });
    const { promise, resolve } = Promise.withResolvers<{ before: number; requests: number }>();
    const { requests } = await prunable(store, before);
    const schedule = createSchedule();
    const stop = openRetention({
      store,
      days: 32,
      alone,
      schedule,
      now: () => now,
      onPruned: resolve,
      onError: assert.ifError,
    });
    test.mock.timers.tick(10 * 60_000);
    assert.deepEqual(await promise, { before, requests });
    await stop();
    assert.deepEqual(schedule.jobs(), []);
  });
});

describe('the retention of the ledger on a server', { skip: !hasPostgres }, () => {
  const postgres = postgresServer();
  const engine = postgresEngine(postgres);
  retention(engine);

  it('drops whole months, and still accepts a late request of one', async (test) => {
    const store = await filled(test, engine, 300);
    assert.ok(store.kind === 'postgres');
    const months = await store.months.list();
    await pruneLedger({ store, before, alone });
    const after = await store.months.list();
    assert.deepEqual(
      after,
      months.filter((start) => start >= Date.UTC(2026, 9)),
    );
    assert.ok(after.length < months.length);
    const writer = createWriter(store, { flushMs: 3_600_000 });
    createLedger(writer).record(madeEntry({ id: 'req_late', startedAt: first }));
    await writer.stop();
    assert.equal(writer.lostRows(), 0);
    assert.deepEqual((await prunable(store, before)).requests, 1);
  });

  it('keeps a request that came after the days of its month were archived, until its own is', async (test) => {
    const store = await engine.open(test);
    assert.ok(store.kind === 'postgres');
    const writer = createWriter(store, { flushMs: 3_600_000 });
    const ledger = createLedger(writer);
    const entry = (id: string, day: number) => madeEntry({ id, startedAt: Date.UTC(2026, 4, day, 9) });
    ledger.record(entry('req_1', 3));
    await writer.flush();
    await archiveDay(store, Date.UTC(2026, 4, 3));
    ledger.record(entry('req_2', 20));
    await writer.stop();
    await store.months.drop(Date.UTC(2026, 4));
    const left = await store.db.selectFrom('requests').select('id').execute();
    assert.deepEqual(left, [{ id: 'req_2' }]);
    assert.deepEqual(await store.months.list(), [Date.UTC(2026, 4)]);
    await archiveDay(store, Date.UTC(2026, 4, 20));
    // Cut off once it has its other name.
    await sql`alter table requests_2026_05 rename to requests_2026_05_removed`.execute(store.db);
    const other = createWriter(store, { flushMs: 3_600_000 });
    createLedger(other).record(entry('req_3', 20));
    await other.stop();
    assert.equal(other.lostRows(), 0);
    await store.months.drop(Date.UTC(2026, 4));
    assert.deepEqual(await store.months.list(), []);
  });

  it('completes an interrupted removal of a month, and leaves partitions that somebody detached', async (test) => {
    const store = await engine.open(test);
    assert.ok(store.kind === 'postgres');
    const writer = createWriter(store, { flushMs: 3_600_000 });
    for (const month of [4, 5])
      createLedger(writer).record(madeEntry({ id: `req_${month}`, startedAt: Date.UTC(2026, month, 3) }));
    await writer.stop();
    await archiveDay(store, Date.UTC(2026, 4, 3));
    await sql`comment on table requests_2026_05 is 'removed by its age'`.execute(store.db);
    for (const name of ['requests_2026_05', 'requests_2026_06'])
      await sql`alter table requests detach partition ${sql.table(name)}`.execute(store.db);
    assert.deepEqual(await store.months.list(), [Date.UTC(2026, 4)]);
    await store.months.drop(Date.UTC(2026, 4));
    assert.deepEqual(await store.months.list(), []);
    const { rows } = await sql`select 1 from requests_2026_06`.execute(store.db);
    assert.equal(rows.length, 1);
  });
});
