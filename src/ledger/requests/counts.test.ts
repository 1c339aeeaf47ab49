import assert from 'node:assert/strict';
import { it } from 'node:test';
import { CompiledQuery } from 'kysely';
import { ledgerOf, madeEntry } from '../../../test/support/store/ledger.ts';
import type { Condition } from '../../http/resource.ts';
import { requestCounts } from './counts.ts';
import { countQuery, latestQuery, runsQuery, toolRunsResource } from './runs-resource.ts';

const HOUR_MS = 3_600_000;
const start = Date.UTC(2026, 10, 21, 10);

const entries = [
  madeEntry({ id: 'req_1', startedAt: start, userAgent: 'claude-cli/2.1 (cli)', session: 'run-1' }),
  madeEntry({ id: 'req_2', startedAt: start + HOUR_MS, userAgent: 'claude-cli/2.2', session: 'run-1' }),
  madeEntry({
    id: 'req_3',
    startedAt: start + 3 * HOUR_MS,
    userAgent: 'curl/8',
    status: 429,
    outcome: 'failed',
    errorCode: 'rate_limit_exceeded',
    errorMessage: 'Rate limit reached',
    costUsd: null,
  }),
  madeEntry({
    id: 'req_4',
    startedAt: start + 3 * HOUR_MS + 1,
    userAgent: null,
    keyId: null,
    session: 'run-2',
  }),
];

const is = (
  attribute: string,
  value: Condition['value'],
  operator: Condition['operator'] = '=',
): Condition => ({
  attribute,
  operator,
  value,
});

it('counts requests by value, the most first, whichever value is filtered by', async (test) => {
  const store = await ledgerOf(test, entries);
  const counts = async (...conditions: Condition[]) =>
    (await requestCounts(store, [conditions], start + 4 * HOUR_MS)).map(
      ({ attribute, failed, requests, value }) => [attribute, value, requests, failed] as const,
    );
  const clients = [
    ['client', 'claude-cli', 2, 0],
    ['client', null, 1, 0],
    ['client', 'curl', 1, 1],
  ];
  const shown = await counts(is('attribute', 'client'));
  assert.deepEqual(shown, clients);
  // Another client can still be chosen, and what else is counted is that of the chosen one.
  const filtered = await counts(is('client', 'curl'));
  assert.deepEqual(
    filtered.filter(([attribute]) => attribute === 'client'),
    clients,
  );
  assert.deepEqual(
    filtered.filter(([attribute]) => attribute === 'status'),
    [['status', '429', 1, 1]],
  );
  assert.deepEqual(await counts(is('attribute', 'client'), is('top', 1)), clients.slice(0, 1));
  await assert.rejects(counts(is('attribute', 'model')), { code: 'invalid_request' });
});

it('counts requests over time without gaps, and as many as the values together', async (test) => {
  const store = await ledgerOf(test, entries);
  const since = is('started_at', new Date(start).toISOString(), '>=');
  const rows = await requestCounts(store, [[since, is('attribute', 'started_at')]], start + 4 * HOUR_MS);
  const total = rows.reduce((sum, { requests }) => sum + requests, 0);
  assert.equal(total, 4);
  assert.ok(rows.length > 4 && rows.length <= 60, `${rows.length} steps`);
  for (const [index, row] of rows.entries())
    if (index > 0) assert.equal(row.value, rows[index - 1]?.to, 'each step begins where the last ends');
});

it('finds a text in errors, models and clients', async (test) => {
  const store = await ledgerOf(test, entries);
  const found = async (text: string) =>
    (await requestCounts(store, [[is('text', text), is('attribute', 'outcome')]], start)).map(
      ({ requests, value }) => [value, requests],
    );
  assert.deepEqual(await found('RATE limit'), [['failed', 1]]);
  assert.deepEqual(await found('claude-cli'), [['ok', 2]]);
  assert.deepEqual(await found("100%'"), []);
});

it('puts the requests of a session of one key together', async (test) => {
  const store = await ledgerOf(test, entries);
  const runs = toolRunsResource(store);
  const query = { groups: [], sort: [], ignoreCase: false, limit: 10, offset: 0 };
  const page = await runs.page?.(query, {} as never);
  assert.deepEqual(
    page?.rows.map(({ client, cost_usd, id, requests }) => [id, client, requests, cost_usd]),
    [
      ['run-2', null, 1, 0.25],
      ['run-1', 'claude-cli', 2, 0.5],
    ],
  );
  assert.deepEqual([page?.count, page?.filtered], [2, 2]);
  assert.equal((await runs.find('run-1', {} as never))?.['requests'], 2);
  assert.equal(await runs.find('run-9', {} as never), null);
});

it('counts all runs and those of a filter, and separates runs of one session by key', async (test) => {
  const more = [
    madeEntry({ id: 'req_5', startedAt: start + 5 * HOUR_MS, keyId: 'key_2', session: 'run-1' }),
    madeEntry({ id: 'req_6', startedAt: start, keyId: 'key_3', session: 'run-1' }),
  ];
  const store = await ledgerOf(test, [...entries, ...more]);
  const runs = toolRunsResource(store);
  const query = { groups: [], sort: [], ignoreCase: false, limit: 2, offset: 0 };
  const shown = async (patch: object) => {
    const page = await runs.page?.({ ...query, ...patch }, {} as never);
    return [page?.rows.map(({ id, key_id }) => [id, key_id]), page?.count, page?.filtered];
  };
  const latest = [
    ['run-1', 'key_2'],
    ['run-2', null],
  ];
  assert.deepEqual(await shown({}), [latest, 4, 4]);
  assert.deepEqual(await shown({ groups: [[is('session', 'run-2')]] }), [[['run-2', null]], 4, 1]);
  assert.deepEqual(await shown({ offset: 9 }), [[], 4, 4]);
});

it('reads the runs of a filter by the index of the filter, and all of them by that of sessions alone', async (test) => {
  const store = await ledgerOf(test, []);
  const planOf = async (query: { compile(): { sql: string; parameters: readonly unknown[] } }) => {
    const { parameters, sql } = query.compile();
    const plan = CompiledQuery.raw(`explain query plan ${sql}`, [...parameters]);
    return JSON.stringify((await store.db.executeQuery(plan)).rows);
  };
  const day = [[is('started_at', new Date(start).toISOString(), '>=')]];
  const session = [[is('session', ['run-1', 'run-2'], '==')]];
  for (const queryOf of [countQuery, runsQuery]) {
    assert.match(await planOf(queryOf(store, day)), /requests_by_time \(started_at>/);
    assert.match(await planOf(queryOf(store, session)), /requests_by_session \(session=\?/);
  }
  assert.match(await planOf(countQuery(store, [])), /COVERING INDEX requests_by_session/);
  assert.match(
    await planOf(latestQuery(store, { limit: 5, offset: 0 })),
    /COVERING INDEX requests_by_session/,
  );
});
