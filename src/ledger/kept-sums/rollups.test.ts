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
import type { Condition } from '../../http/resource.ts';
import type { Store } from '../../store/database.ts';
import { createWriter } from '../../store/writer.ts';
import { createLedger } from '../record.ts';
import { requestCounts } from '../requests/counts.ts';
import { archiveDay } from '../retention/archive.ts';
import { sortedByGroup } from '../sliced-sums.ts';
import { addSums, type SumGroups, type SumsQuery, sumsOf } from '../sums.ts';
import { topGroups } from '../top.ts';
import { topKeys } from '../top-keys.ts';
import { allSums } from './read.ts';
import { DAY_MS, HOUR_MS, rollupSteps } from './sets.ts';

const now = Date.UTC(2026, 10, 21, 10, 30);
const DAYS = 48;
const since = now - DAYS * DAY_MS;
const longest = rollupSteps.at(-1)?.stepMs ?? 0;

/** A store whose requests are of more days than the longest span has, with some hundred groups. */
async function rolledUp(test: TestContext, { open }: Engine): Promise<Store> {
  const store = await open(test);
  const writer = createWriter(store, { flushMs: 3_600_000 });
  const ledger = createLedger(writer);
  const random = createRandom(3);
  for (let index = 0; index < 1_500; index += 1)
    ledger.record(
      madeEntry({
        id: `req_${index}`,
        startedAt: now - Math.floor(random.next() * DAYS * DAY_MS),
        outcome: random.pick(['ok', 'failed', 'aborted'] as const),
        connection: random.pick(['one', 'two', null]),
        provider: random.pick(['openai', null]),
        model: random.pick(['a', 'b']),
        keyId: random.pick([null, ...Array.from({ length: 40 }, (_, key) => `key_${key}`)]),
        comboId: random.pick(['combo_1', null]),
        costUsd: random.pick([null, 0.1, 0.000_002, 0.7]),
        billing: random.pick(['metered', 'plan'] as const),
        tags: random.pick([[], ['team=core'], ['team=core', 'owner=ann', 'app=x'], ['owner=bob']]),
      }),
    );
  await writer.stop();
  await keepAll(store, now);
  return store;
}

async function plainly(store: Store, query: SumsQuery) {
  const groups: SumGroups = new Map();
  addSums(groups, await sumsOf(store, query));
  return sortedByGroup(groups);
}

const groupings = ['connection', 'combo', 'team', 'owner', 'tag'] as const;
const questions: SumsQuery[] = [
  ...groupings.map((by): SumsQuery => ({ by: [by], since })),
  ...groupings.map(
    (by): SumsQuery => ({
      by: [by],
      since: now - 30 * DAY_MS - 7 * HOUR_MS - 5,
      before: now - 9 * HOUR_MS,
    }),
  ),
  { by: ['connection', 'model'], since, only: { model: 'a' } },
  { by: ['month', 'team'], since },
  { by: ['month', 'owner'], since, timeZone: 'Europe/Vienna' },
  { by: ['month', 'tag'], since, timeZone: 'Asia/Kolkata' },
  { by: ['week', 'team'], since, timeZone: 'America/New_York' },
  { by: ['day', 'combo'], since: now - 20 * DAY_MS },
  { by: ['hour', 'team'], since: now - 5 * DAY_MS },
];

async function check(store: Store): Promise<void> {
  for (const query of questions)
    assert.deepEqual(await allSums(store, query), await plainly(store, query), JSON.stringify(query));
  const at = (time: number) => new Date(time).toISOString();
  for (const days of [5, 30, 47]) {
    const time: Condition = { attribute: 'started_at', operator: '>=', value: at(now - days * DAY_MS) };
    // What more is filtered by is counted of the requests.
    const always: Condition = { attribute: 'duration_ms', operator: '>=', value: 0 };
    assert.deepEqual(
      await requestCounts(store, [[time]], now),
      await requestCounts(store, [[time, always]], now),
    );
    for (const top of [3, 30]) {
      const query: SumsQuery = { by: ['key'], since: now - days * DAY_MS };
      const expected = topGroups(await plainly(store, query), ['key'], top);
      assert.deepEqual(await topKeys(store, query, top, now), expected);
    }
  }
}

async function spansOf({ db }: Store): Promise<Map<number, number>> {
  const spans = await db.selectFrom('sum_rollups').select('step_ms').execute();
  const lengths = Map.groupBy(spans, ({ step_ms }) => step_ms);
  return new Map([...lengths].map(([stepMs, { length }]) => [stepMs, length]));
}

/** A request in the middle of the longest span that there are sums of. */
const lateRow = (startedAt: number) =>
  ({
    id: `late-${startedAt}`,
    started_at: startedAt,
    format: 'x',
    status: 418,
    outcome: 'ok',
    streamed: 0,
    estimated: 1,
    duration_ms: 1,
    attempts: 1,
    cost_usd: 1_000,
  }) as const;

function rollups(engine: Engine): void {
  it('of many days', async (test) => {
    const store = await rolledUp(test, engine);

    await test.test('equal the ledger for every grouping and every start time', async () => {
      const spans = await spansOf(store);
      for (const { stepMs } of rollupSteps) assert.ok(Number(spans.get(stepMs)) > 0, `some of ${stepMs} ms`);
      await check(store);
    });

    await test.test('are rebuilt after a request arrives late, changes or is removed', async () => {
      const spans = await spansOf(store);
      const row = lateRow(Math.ceil(since / longest) * longest + 5 * DAY_MS + 3);
      const changes = [
        () => store.db.insertInto('requests').values(row).execute(),
        () => store.db.updateTable('requests').set({ cost_usd: 2_000 }).where('id', '=', row.id).execute(),
        () => store.db.deleteFrom('requests').where('id', '=', row.id).execute(),
      ];
      for (const change of changes) {
        await change();
        await check(store);
        await keepAll(store, now);
        assert.deepEqual(await spansOf(store), spans);
        await check(store);
      }
    });

    await test.test('are archived with their requests, and reports stay the same', async () => {
      const before = await Promise.all(questions.map((query) => allSums(store, query)));
      const start = Math.ceil(since / longest) * longest;
      for (const day of [start, start + DAY_MS, start + 2 * DAY_MS]) await archiveDay(store, day);
      await keepAll(store, now);
      const days = questions.filter(({ by, timeZone }) => !by.includes('hour') && timeZone === undefined);
      for (const query of days)
        assert.deepEqual(
          await allSums(store, query),
          before[questions.indexOf(query)],
          JSON.stringify(query),
        );
      const left = await store.db.selectFrom('sum_rollups').select('at').where('at', '=', start).execute();
      assert.deepEqual(left, []);
      const { rows } =
        await sql`select 1 from packed_sums where step_ms in (${sql.lit(longest)}, ${sql.lit(4 * DAY_MS)})
        and at = ${sql.lit(start)}`.execute(store.db);
      assert.deepEqual(rows, []);
    });

    await test.test('are read in place of the sums and counts that they were added up from', async () => {
      const start = Math.floor(now / longest - 1) * longest;
      const whole = { since: start, before: start + longest };
      const query = (by: (typeof groupings)[number]): SumsQuery => ({ by: [by], ...whole });
      const counts = async () => {
        const [from, to] = [whole.since, whole.before].map((time) => new Date(time).toISOString());
        const condition = (operator: '>=' | '<', value = ''): Condition => ({
          attribute: 'started_at',
          operator,
          value,
        });
        return requestCounts(store, [[condition('>=', from), condition('<', to)]], now);
      };
      const before = await Promise.all(groupings.map((by) => allSums(store, query(by))));
      const [countsBefore, keysBefore] = [
        await counts(),
        await topKeys(store, { by: ['key'], ...whole }, 3, now),
      ];
      for (const table of ['packed_sums', 'value_counts'] as const)
        await store.db.deleteFrom(table).where('step_ms', '<', longest).execute();
      assert.deepEqual(await Promise.all(groupings.map((by) => allSums(store, query(by)))), before);
      assert.deepEqual(await counts(), countsBefore);
      assert.deepEqual(await topKeys(store, { by: ['key'], ...whole }, 3, now), keysBefore);
    });
  });

  it('of hours exist before the first day has ended', async (test) => {
    const store = await engine.open(test);
    const writer = createWriter(store, { flushMs: 3_600_000 });
    const ledger = createLedger(writer);
    const today = Math.floor(now / DAY_MS) * DAY_MS;
    for (let hour = 0; hour < 10; hour += 1)
      ledger.record(madeEntry({ id: `req_${hour}`, startedAt: today + hour * HOUR_MS, tags: ['team=a'] }));
    await writer.stop();
    await keepAll(store, now);
    assert.deepEqual([...(await spansOf(store))], [[6 * HOUR_MS, 1]]);
    const query: SumsQuery = { by: ['team'], since: today };
    assert.deepEqual(await allSums(store, query), await plainly(store, query));
  });
}

describe('sums of several hours or days in the file', () => rollups(sqliteEngine));

describe('sums of several hours or days on a server', { skip: !hasPostgres }, () => {
  rollups(postgresEngine(postgresServer()));
});
