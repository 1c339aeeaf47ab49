import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { fc } from '../../test/support/machine/properties.ts';
import { admin } from '../../test/support/management/caller.ts';
import { ledgerOf, madeEntry } from '../../test/support/store/ledger.ts';
import type { Caller, Condition, ListQuery, Row } from '../http/resource.ts';
import { type LedgerEntry, usageRow } from './schema.ts';
import { slicedSums } from './sliced-sums.ts';
import { sumsOf } from './sums.ts';
import { parseGroupings } from './usage-query.ts';
import { usageResource } from './usage-resource.ts';

const now = Date.UTC(2026, 10, 21, 10, 30);
const hour = 3_600_000;

async function usageOf(test: TestContext, entries: readonly LedgerEntry[]) {
  const store = await ledgerOf(test, entries);
  const resource = usageResource({ store, now: () => now });
  const ask = async (conditions: Condition[], patch: Partial<ListQuery> = {}, caller: Caller = admin) => {
    const groups = conditions.length === 0 ? [] : [conditions];
    const page = await resource.page?.(
      { groups, sort: [], ignoreCase: false, limit: 1000, offset: 0, ...patch },
      caller,
    );
    assert.ok(page);
    return page;
  };
  return { resource, ask, store };
}

/** Requests of 300 days, some of them in the same hour. */
const spread = fc.array(
  fc.record({
    startedAt: fc.integer({ min: 0, max: 300 * 24 }).map((hours) => now - hours * (hour - 7)),
    model: fc.constantFrom('a', 'b', null),
    costUsd: fc.constantFrom(null, 0.1, 0.2, 0.7),
    cacheSavingsUsd: fc.constantFrom(null, -0.1, 0, 0.2),
    ttftMs: fc.constantFrom(null, 5, 8),
  }),
  { maxLength: 15 },
);

const is = (attribute: string, value: Condition['value']): Condition => ({ attribute, operator: '=', value });
const from = (value: string): Condition => ({ attribute: 'from', operator: '>=', value });
const to = (value: string): Condition => ({ attribute: 'to', operator: '<=', value });
const told = (rows: readonly Row[]) => rows.map(({ id, requests }) => [id, requests]);

const entries = [
  madeEntry({ id: 'old', startedAt: now - 40 * 24 * hour }),
  madeEntry({ id: 'a', startedAt: Date.UTC(2026, 10, 20, 23, 59) }),
  madeEntry({ id: 'b', startedAt: Date.UTC(2026, 10, 21, 0), model: 'mini', keyId: null, costUsd: null }),
  madeEntry({
    id: 'c',
    startedAt: Date.UTC(2026, 10, 21, 0, 59),
    outcome: 'failed',
    usage: null,
    costUsd: 0.1,
    cacheSavingsUsd: -0.025,
    ttftMs: null,
  }),
  madeEntry({
    id: 'd',
    startedAt: Date.UTC(2026, 10, 21, 9),
    provider: null,
    connection: null,
    model: null,
    outcome: 'aborted',
    estimated: true,
    costUsd: 0.2,
    durationMs: 1000,
  }),
];

describe('the resource of usage', () => {
  it('sums up the last 30 days by day', async (test) => {
    const { ask, resource } = await usageOf(test, entries);
    const { count, rows } = await ask([]);
    assert.deepEqual(told(rows), [
      ['day:2026-11-20', 1],
      ['day:2026-11-21', 3],
    ]);
    assert.equal(count, 2);
    const [, today] = rows;
    assert.ok(today);
    assert.deepEqual(usageRow.strict().parse(today), today);
    const { cost_usd, estimated, failed, aborted, input_tokens, output_tokens, unpriced, usage } = today;
    assert.deepEqual([failed, aborted, estimated, unpriced, cost_usd], [1, 1, 1, 1, 0.3]);
    assert.deepEqual([input_tokens, output_tokens], [2 * 9_743_210, 2 * 10_865]);
    assert.deepEqual([today['mean_duration_ms'], today['mean_ttft_ms']], [563, 12]);
    assert.equal(Reflect.get(Object(usage), 'audio_seconds'), 3);
    assert.equal(today['cache_savings_usd'], 0.225);
    assert.deepEqual([today['from'], today['to']], ['2026-11-21T00:00:00.000Z', '2026-11-22T00:00:00.000Z']);
    assert.deepEqual(await resource.find('day:2026-11-21', admin), today);
    assert.deepEqual(told([(await resource.find('day:2026-10-12', admin)) as Row]), [['day:2026-10-12', 1]]);
  });

  it('groups by hour, provider, model, connection and key', async (test) => {
    const { ask, resource } = await usageOf(test, entries);
    const by = async (grouping: string) => told((await ask([is('by', grouping)])).rows);
    assert.deepEqual(await by('hour'), [
      ['hour:2026-11-20T23', 1],
      ['hour:2026-11-21T00', 2],
      ['hour:2026-11-21T09', 1],
    ]);
    assert.deepEqual(await by('provider'), [
      ['provider:-', 1],
      ['provider:openai', 3],
    ]);
    assert.deepEqual(await by('model'), [
      ['model:-/-', 1],
      ['model:openai/gpt-5', 2],
      ['model:openai/mini', 1],
    ]);
    assert.deepEqual(await by('connection'), [
      ['connection:-', 1],
      ['connection:work', 3],
    ]);
    assert.deepEqual(await by('key'), [
      ['key:-', 1],
      ['key:key_1', 3],
    ]);
    for (const grouping of [
      'hour',
      'day',
      'provider',
      'model',
      'connection',
      'key',
      'combo',
      'key,day',
      'hour,model',
      'week',
      'month,team',
      'tag',
      'owner',
      'label:app',
      'label:app,day',
      'format,outcome',
      'total',
    ])
      for (const row of (await ask([is('by', grouping)])).rows) {
        assert.deepEqual(usageRow.strict().parse(row), row, row.id);
        assert.deepEqual((await resource.find(row.id, admin))?.['requests'], row['requests'], row.id);
      }
  });

  it('groups by several columns, with the names of keys and combos', async (test) => {
    const { ask, store } = await usageOf(test, entries);
    const { rows } = await ask([is('by', 'day,key')]);
    assert.deepEqual(told(rows), [
      ['day,key:2026-11-20|key_1', 1],
      ['day,key:2026-11-21|-', 1],
      ['day,key:2026-11-21|key_1', 2],
    ]);
    assert.deepEqual(
      rows.map((row) => row['key_name']),
      [null, null, null],
    );
    const key = { id: 'key_1', name: 'laptop', prefix: 'sk-1', hash: 'x', created_at: now };
    await store.db.insertInto('keys').values(key).execute();
    const named = (await ask([is('by', 'key,model')])).rows.map((row) => [row['key_name'], row['model']]);
    // By the outer grouping first: what had no key, then the keys.
    assert.deepEqual(named, [
      [null, 'mini'],
      ['laptop', null],
      ['laptop', 'gpt-5'],
    ]);
  });

  it('still shows the name of a key that was removed', async (test) => {
    const { ask, store } = await usageOf(test, entries);
    const key = { id: 'key_1', name: 'laptop', prefix: 'sk-1', hash: 'x', created_at: now };
    await store.db.insertInto('keys').values(key).execute();
    await store.db.updateTable('keys').set({ name: 'old laptop' }).execute();
    await store.db.deleteFrom('keys').where('id', '=', 'key_1').execute();
    const names = (await ask([is('by', 'key')])).rows.map((row) => row['key_name']);
    assert.deepEqual(names, [null, 'old laptop']);
  });

  it('sums up by team, owner, label and tag, and narrows to them', async (test) => {
    const tagged = [
      madeEntry({ id: 'a', startedAt: now - 4, tags: ['team=core', 'owner=ann', 'app=x', 'batch'] }),
      madeEntry({ id: 'b', startedAt: now - 3, tags: ['team=core', 'app=y'] }),
      madeEntry({ id: 'c', startedAt: now - 2, tags: ['team=data', 'apple=x'] }),
      madeEntry({ id: 'd', startedAt: now - 1, tags: [] }),
    ];
    const { ask, resource } = await usageOf(test, tagged);
    const by = async (...conditions: Condition[]) => told((await ask(conditions)).rows);
    assert.deepEqual(await by(is('by', 'team')), [
      ['team:-', 1],
      ['team:core', 2],
      ['team:data', 1],
    ]);
    assert.deepEqual(await by(is('by', 'label:app')), [
      ['label:app:-', 2],
      ['label:app:x', 1],
      ['label:app:y', 1],
    ]);
    assert.deepEqual(await by(is('by', 'tag'), is('team', 'core')), [
      ['tag:app=x', 1],
      ['tag:app=y', 1],
      ['tag:batch', 1],
      ['tag:owner=ann', 1],
      ['tag:team=core', 2],
    ]);
    assert.deepEqual(await by(is('by', 'total'), is('tag', 'app=x')), [['total:', 1]]);
    assert.deepEqual(await by(is('by', 'owner,team'), is('tag', 'batch')), [['owner,team:ann|core', 1]]);
    const [row] = (await ask([is('by', 'label:app,team')])).rows.slice(-1);
    assert.deepEqual([row?.['labels'], row?.['team']], [{ app: 'y' }, 'core']);
    assert.deepEqual((await resource.find('label:app:x', admin))?.['requests'], 1);
    for (const grouping of ['label:', 'label:a b', 'labels', 'total,key'])
      await assert.rejects(ask([is('by', grouping)]), { code: 'invalid_request' }, grouping);
  });

  it('cuts time by the clocks of a time zone, into hours, days, weeks and months', async (test) => {
    // In Vienna clocks went back on 2026-10-25 at 03:00 (01:00 UTC).
    const at = (text: string) => Date.parse(text);
    const drafts = [
      '2026-10-24T21:59Z',
      '2026-10-24T22:00Z',
      '2026-10-25T00:30Z',
      '2026-10-25T01:30Z',
      '2026-10-31T23:00Z',
    ];
    const { ask } = await usageOf(
      test,
      drafts.map((text, index) => madeEntry({ id: `r${index}`, startedAt: at(text) })),
    );
    const vienna = is('time_zone', 'Europe/Vienna');
    const periods = async (by: string) =>
      (await ask([is('by', by), vienna, from('2026-10-01T00:00:00Z')])).rows.map((row) => [
        row['period'],
        row['requests'],
        row['from'],
        row['to'],
      ]);
    assert.deepEqual(await periods('day'), [
      ['2026-10-24', 1, '2026-10-23T22:00:00.000Z', '2026-10-24T22:00:00.000Z'],
      ['2026-10-25', 3, '2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z'],
      ['2026-11-01', 1, '2026-10-31T23:00:00.000Z', '2026-11-01T23:00:00.000Z'],
    ]);
    assert.deepEqual(
      (await periods('hour')).map(([period]) => period),
      [
        '2026-10-24T23+02:00',
        '2026-10-25T00+02:00',
        '2026-10-25T02+02:00',
        '2026-10-25T02+01:00',
        '2026-11-01T00+01:00',
      ],
    );
    assert.deepEqual(
      (await periods('week')).map(([period, requests]) => [period, requests]),
      [
        ['2026-10-19', 4],
        ['2026-10-26', 1],
      ],
    );
    assert.deepEqual(
      (await periods('month')).map(([period, requests]) => [period, requests]),
      [
        ['2026-10', 4],
        ['2026-11', 1],
      ],
    );
    for (const zone of ['Mars/Base', '+01:00', ''])
      await assert.rejects(ask([is('time_zone', zone)]), { code: 'invalid_request' }, zone);
  });

  it('lists the most expensive groups one by one, and the rest in one row for each day', async (test) => {
    const made = ['a', 'b', 'c', 'd'].flatMap((model, index) =>
      [1, 2].map((day) =>
        madeEntry({
          id: `${model}${day}`,
          model,
          startedAt: Date.UTC(2026, 10, 18 + day, 12),
          costUsd: model === 'd' && day === 1 ? 9 : index,
        }),
      ),
    );
    const { ask } = await usageOf(test, made);
    const rows = (await ask([is('by', 'day,model'), is('top', 2)])).rows;
    assert.deepEqual(
      rows.map((row) => [row.id, row['cost_usd'], row['rest_groups']]),
      [
        ['day,model:2026-11-19|openai/c', 2, 0],
        ['day,model:2026-11-19|openai/d', 9, 0],
        ['day,model:2026-11-19|*', 1, 2],
        ['day,model:2026-11-20|openai/c', 2, 0],
        ['day,model:2026-11-20|openai/d', 3, 0],
        ['day,model:2026-11-20|*', 1, 2],
      ],
    );
    const [total] = (await ask([is('by', 'total')])).rows;
    assert.equal(
      rows.reduce((sum, row) => sum + Number(row['cost_usd']), 0),
      total?.['cost_usd'],
    );
    assert.equal((await ask([is('by', 'day'), is('top', 1)])).count, 2, 'days are no groups');
    for (const top of [0, 1.5, 1000, 'x'])
      await assert.rejects(ask([is('by', 'model'), is('top', top)]), { code: 'invalid_request' });
  });

  it('takes a span of time, a key or a model, and says so in each row', async (test) => {
    const { ask } = await usageOf(test, entries);
    const span = [from('2026-11-20T23:30:00.000Z'), to('2026-11-21T00:30:00.000Z')];
    const days = (await ask(span)).rows.map((row) => [row.id, row['requests'], row['from'], row['to']]);
    assert.deepEqual(days, [
      ['day:2026-11-20', 1, '2026-11-20T23:30:00.000Z', '2026-11-21T00:00:00.000Z'],
      ['day:2026-11-21', 1, '2026-11-21T00:00:00.000Z', '2026-11-21T00:30:00.000Z'],
    ]);
    const { rows } = await ask([is('by', 'provider'), is('model', 'mini'), from('2020-01-01T00:00:00.000Z')]);
    assert.deepEqual(told(rows), [['provider:openai', 1]]);
    assert.deepEqual([rows[0]?.['model'], rows[0]?.['to']], ['mini', '2026-11-21T10:30:00.000Z']);
    assert.deepEqual(told((await ask([is('key_id', 'key_1'), to('2026-11-21T00:00:00.000Z')])).rows), [
      ['day:2026-11-20', 1],
    ]);
  });

  it('gives the same result when it is summed up slice by slice', async (test) => {
    await fc.assert(
      fc.asyncProperty(
        spread,
        fc.constantFrom(
          'hour',
          'day',
          'model',
          'key',
          'day,model',
          'key,hour',
          'combo,model',
          'tag',
          'label:app,week',
        ),
        fc.integer({ min: 1, max: 6 }),
        async (drafts, by, rows) => {
          const made = drafts.map((draft, index) => madeEntry({ ...draft, id: `req_${index}` }));
          const store = await ledgerOf(test, made);
          const query = { by: parseGroupings(by) ?? [], since: now - 200 * 24 * hour, before: now - 5 };
          assert.deepEqual(await slicedSums(store, query, rows), await sumsOf(store, query));
        },
      ),
      { numRuns: 30 },
    );
  });

  it('filters, sorts and cuts the sums themselves', async (test) => {
    const { ask } = await usageOf(test, entries);
    const sort = [{ attribute: 'requests', descending: true }];
    const most = await ask([is('by', 'model')], { sort, limit: 1 });
    assert.deepEqual([told(most.rows), most.count], [[['model:openai/gpt-5', 2]], 3]);
    const many = await ask([is('by', 'model'), { attribute: 'requests', operator: '>', value: 1 }]);
    assert.deepEqual([told(many.rows), many.filtered, many.count], [[['model:openai/gpt-5', 2]], 1, 3]);
  });

  it('shows keys only to those who may see them', async (test) => {
    const { ask, resource } = await usageOf(test, entries);
    const viewer: Caller = { ...admin, role: 'viewer', can: (permission) => permission !== 'keys:read' };
    for (const conditions of [[is('by', 'key')], [is('key_id', 'key_1')]])
      await assert.rejects(ask(conditions, {}, viewer), { code: 'forbidden' });
    await assert.rejects(resource.find('key:key_1', viewer), { code: 'forbidden' });
    assert.equal((await ask([], {}, viewer)).count, 2);
    assert.deepEqual(resource.guarded, { key_id: 'keys:read', key_name: 'keys:read' });
  });

  it('answers several questions at once, each with the conditions of its own', async (test) => {
    const { ask } = await usageOf(test, entries);
    const first = [is('by', 'day'), from('2026-11-21T00:00:00.000Z'), is('requests', 3)];
    const { count, filtered, rows } = await ask([], { groups: [first, [is('by', 'hour')]], limit: 3 });
    assert.deepEqual(told(rows), [
      ['day:2026-11-21', 3],
      ['hour:2026-11-20T23', 1],
      ['hour:2026-11-21T00', 2],
    ]);
    assert.deepEqual([count, filtered], [4, 4]);
    const none = await ask([], { groups: [[is('requests', 7)], [is('by', 'total')]] });
    assert.deepEqual(told(none.rows), [['total:', 4]]);
    assert.deepEqual([none.count, none.filtered], [3, 1]);
  });

  it('refuses unknown groups, and finds nothing under any other id', async (test) => {
    const { ask, resource } = await usageOf(test, entries);
    const refused: Condition[][] = [
      [is('by', 'moon')],
      [is('by', null)],
      [is('by', 'day,hour')],
      [is('by', 'key,key')],
      [is('by', 'key,')],
      [{ attribute: 'by', operator: '!=', value: 'day' }],
      [{ attribute: 'from', operator: '<', value: '2026-11-21T00:00:00.000Z' }],
      [is('to', null)],
      [is('model', 'gpt*')],
      [is('model', ['a', 'b'])],
      [is('provider', null)],
    ];
    for (const conditions of refused)
      await assert.rejects(ask(conditions), { code: 'invalid_request', param: 'filter[]' });
    const by = (...names: string[]) => names.map((name) => [is('by', name)]);
    for (const groups of [[...by('day'), [is('model', 'mini')]], by('day', 'hour', 'model', 'tag', 'key')])
      await assert.rejects(ask([], { groups }), { code: 'invalid_request', param: 'filter[]' });
    for (const id of ['', ':', 'day', 'day:', 'day:soon', 'day:2026-11-01', 'hour:2026-11-21', 'moon:1'])
      assert.equal(await resource.find(id, admin), null, id);
    await fc.assert(
      fc.asyncProperty(fc.string(), async (text) => {
        for (const id of [text, `day:${text}`, `hour:${text}`, `model:${text}`])
          await resource.find(id, admin);
      }),
      { numRuns: 100 },
    );
  });
});
