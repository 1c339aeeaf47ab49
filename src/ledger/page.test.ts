import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../test/support/machine/properties.ts';
import { admin } from '../../test/support/management/caller.ts';
import { ledgerOf, madeEntry } from '../../test/support/store/ledger.ts';
import { attributesOf } from '../http/collection/attributes.ts';
import { select } from '../http/collection/select.ts';
import type { Condition, ListQuery } from '../http/resource.ts';
import { rowOfEntry } from './entry-row.ts';
import { requestsResource } from './requests/requests-resource.ts';
import { type LedgerEntry, requestRow } from './schema.ts';

const plain: ListQuery = { groups: [], sort: [], ignoreCase: false, limit: 1000, offset: 0 };
const attributes = attributesOf(requestRow, new Set());

const words = ['', 'a', 'A', 'ab', 'b', 'aXb', 'a*b', '100%', '[x]', '?', 'é', '😀', 'a😀b'];
const word = fc.constantFrom(...words);
const perhaps = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: null });

const entries: fc.Arbitrary<LedgerEntry[]> = fc
  .array(
    fc.record({
      startedAt: fc.integer({ min: 0, max: 3 }).map((hours) => Date.UTC(2026, 10, 21, hours)),
      keyId: perhaps(word),
      model: perhaps(word),
      errorCode: perhaps(word),
      status: fc.constantFrom(200, 404, 500),
      streamed: fc.boolean(),
      costUsd: perhaps(fc.constantFrom(0, 0.5, 2)),
      ttftMs: perhaps(fc.integer({ min: 0, max: 3 })),
      hasUsage: fc.boolean(),
    }),
    { maxLength: 12 },
  )
  .map((drafts) =>
    drafts.map(({ hasUsage, ...draft }, index) =>
      madeEntry({ ...draft, id: `req_${index}`, ...(hasUsage ? {} : { usage: null }) }),
    ),
  );

const isText = (attribute: string) => attributes.get(attribute) === 'text';
const texts = ['key_id', 'model', 'error.code', 'id'];
const numbers = ['status', 'cost_usd', 'ttft_ms', 'input_tokens', 'usage.input'];

const condition: fc.Arbitrary<Condition> = fc.oneof(
  fc.record({
    attribute: fc.constantFrom(...texts),
    operator: fc.constantFrom('=', '!=', '==', '!==', '<', '>='),
    value: word
      .chain((text) => fc.constantFrom(text, `${text}*`, `%${text}`, `*${text}*`, `a*${text}`))
      // More than one part between two wildcards is refused, which has a test of its own.
      .filter((text) => text.split(/[*%]+/).length <= 3),
  }),
  fc.record({
    attribute: fc.constantFrom(...numbers),
    operator: fc.constantFrom('=', '!=', '==', '!==', '<', '<=', '>', '>='),
    value: fc.constantFrom(0, 1, 2, 10, 200, 0.5, 9_743_210),
  }),
  fc.record({
    attribute: fc.constantFrom(...texts, ...numbers, 'streamed'),
    operator: fc.constantFrom('=', '!=', '==', '!=='),
    value: fc.constant(null),
  }),
  fc.record({
    attribute: fc.constant('streamed'),
    operator: fc.constantFrom('=', '!='),
    value: fc.boolean(),
  }),
  fc.record({
    attribute: fc.constant('started_at'),
    operator: fc.constantFrom('=', '!=', '<', '<=', '>', '>='),
    value: fc.constantFrom('2026-11-21T01:00:00.000Z', '2026-11-21T01:30:00.000Z'),
  }),
  fc.record({
    attribute: fc.constantFrom(...texts),
    operator: fc.constant('=' as const),
    value: fc.array(word, { minLength: 1 }),
  }),
);

const query: fc.Arbitrary<ListQuery> = fc.record({
  groups: fc.array(fc.array(condition, { minLength: 1, maxLength: 3 }), { maxLength: 3 }),
  sort: fc.array(
    fc.record({
      attribute: fc.constantFrom('model', 'cost_usd', 'ttft_ms', 'started_at', 'streamed', 'status'),
      descending: fc.boolean(),
    }),
    { maxLength: 2 },
  ),
  ignoreCase: fc.constant(false),
  limit: fc.integer({ min: 1, max: 5 }),
  offset: fc.integer({ min: 0, max: 5 }),
});

describe('pages of requests', () => {
  it('equal the pages of rows in memory', async (test) => {
    await fc.assert(
      fc.asyncProperty(entries, fc.array(query, { minLength: 5, maxLength: 5 }), async (made, queries) => {
        const store = await ledgerOf(test, made);
        const resource = requestsResource(store);
        const newestFirst = made
          .toSorted((a, b) => b.startedAt - a.startedAt || (a.id < b.id ? 1 : -1))
          .map((entry) => rowOfEntry(entry, null));
        for (const one of queries)
          assert.deepEqual(await resource.page?.(one, admin), select(newestFirst, one, attributes));
      }),
      { numRuns: 40 },
    );
  });

  it('show every field of a record, and find one by id', async (test) => {
    const resource = requestsResource(
      await ledgerOf(test, [madeEntry({ errorCode: 'upstream_error', errorMessage: 'no' })]),
    );
    const page = await resource.page?.(plain, admin);
    const [row] = page?.rows ?? [];
    assert.ok(row);
    assert.deepEqual(requestRow.strict().parse(row), row);
    assert.deepEqual([row['input_tokens'], row['output_tokens']], [9_743_210, 10_865]);
    // The trace stands in no list.
    assert.deepEqual(await resource.find(row.id, admin), { ...row, trace: null });
    assert.equal(await resource.find('req_none', admin), null);
    assert.equal(resource.create ?? resource.update ?? resource.remove ?? resource.actions, undefined);
  });

  it('can be filtered and sorted by everything that has an order', async (test) => {
    const { page } = requestsResource(await ledgerOf(test, [madeEntry()]));
    for (const [attribute, kind] of attributes) {
      if (kind === 'object' || kind === 'list' || attribute.startsWith('trace.')) continue;
      const sorted = await page?.(
        { ...plain, sort: [{ attribute, descending: true }], ignoreCase: true },
        admin,
      );
      assert.equal(sorted?.count, 1, attribute);
      const filtered = await page?.(
        { ...plain, groups: [[{ attribute, operator: '=', value: null }]] },
        admin,
      );
      assert.equal(filtered?.count, 1, attribute);
    }
  });

  it('ignore case on request', async (test) => {
    const models = ['b', 'A', 'a', 'B'];
    const { page } = requestsResource(
      await ledgerOf(
        test,
        models.map((model, index) => madeEntry({ id: `req_${index}`, model })),
      ),
    );
    const sort = [{ attribute: 'model', descending: false }];
    const order = async (ignoreCase: boolean) =>
      (await page?.({ ...plain, sort, ignoreCase }, admin))?.rows.map(({ model }) => String(model));
    assert.deepEqual(await order(false), ['A', 'B', 'a', 'b']);
    assert.deepEqual(
      (await order(true))?.map((model) => model.toLowerCase()),
      ['a', 'a', 'b', 'b'],
    );
  });

  it('find a text in any of their columns', async (test) => {
    const made = [
      madeEntry({ id: 'req_1', requestedModel: 'Fast', model: 'slow-1', errorMessage: null }),
      madeEntry({ id: 'req_2', requestedModel: null, model: 'x y', errorMessage: 'Rate LIMIT reached' }),
    ];
    const { page } = requestsResource(await ledgerOf(test, made));
    const found = async (value: string) => {
      const groups = [[{ attribute: 'text', operator: '=', value } as const]];
      const listed = await page?.({ ...plain, groups }, admin);
      assert.equal(listed?.filtered, listed?.rows.length);
      return listed?.rows.map(({ id }) => id);
    };
    assert.deepEqual(await found('fast'), ['req_1']);
    assert.deepEqual(await found('SLOW-'), ['req_1']);
    assert.deepEqual(await found('rate limit'), ['req_2']);
    assert.deepEqual(await found('req_'), ['req_2', 'req_1']);
    assert.deepEqual(await found('fastslow'), []);
    assert.deepEqual(await found('X Y'), ['req_2']);
  });

  it('refuse patterns, other attributes, and values of another kind', async (test) => {
    const { page } = requestsResource(await ledgerOf(test, []));
    const refused: Condition[] = [
      { attribute: 'model', operator: '=~', value: '/a/' },
      { attribute: 'model', operator: '=', value: 'a*b*c*d' },
      { attribute: 'usage', operator: '=', value: 'a' },
      { attribute: 'id; drop table requests', operator: '=', value: 'a' },
      { attribute: 'status', operator: '>', value: 'a' },
      { attribute: 'started_at', operator: '<', value: 'later' },
      { attribute: 'model', operator: '<', value: 5 },
    ];
    for (const one of refused) {
      const asked = async () => page?.({ ...plain, groups: [[one]] }, admin);
      await assert.rejects(asked, { code: 'invalid_request', param: 'filter[]' }, JSON.stringify(one));
    }
    const sorted = async () => page?.({ ...plain, sort: [{ attribute: 'usage', descending: true }] }, admin);
    await assert.rejects(sorted, { code: 'invalid_request', param: 'sort_by' });
    assert.ok(texts.every(isText));
  });
});
