import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { z } from 'zod';
import { fc } from '../../../test/support/machine/properties.ts';
import { GatewayError } from '../../lib/error.ts';
import type { Row } from '../resource.ts';
import { attributesOf } from './attributes.ts';
import { envelope } from './envelope.ts';
import { parseListQuery } from './query.ts';
import { select } from './select.ts';

const record = z.object({
  id: z.string(),
  name: z.string(),
  size: z.number().nullable(),
  labels: z.array(z.string()),
});
const attributes = attributesOf(record, new Set());
const parse = (query: string) => parseListQuery(new URLSearchParams(query), attributes);

function page(query: string, rows: Row[]): Record<string, unknown> {
  const listing = parse(query);
  const selected = select(rows, listing.query, attributes);
  const path = '/api/v1.0.0/things';
  return envelope(listing, { name: 'things', path, page: selected, members: selected.rows, actions: [] });
}

describe('the query of a collection', () => {
  it('asks for everything in pages of a thousand by default', () => {
    const { params: _, ...listing } = parse('');
    const query = { groups: [], sort: [], ignoreCase: false, limit: 1000, offset: 0 };
    assert.deepEqual(listing, { query, filtered: false, expand: false, attributes: null, hide: false });
  });

  it('has all its parameters read', () => {
    const listing = parse(
      'limit=2&offset=4&sort_by=size,name&sort_order=desc,asc&sort_options=ignore_case&expand=resources&attributes=name,%20href&hide=resources&filter[]=size>1',
    );
    assert.deepEqual(listing.query.sort, [
      { attribute: 'size', descending: true },
      { attribute: 'name', descending: false },
    ]);
    assert.deepEqual(listing.attributes, ['name', 'href']);
    const { expand, filtered, hide, query } = listing;
    assert.ok(expand && filtered && hide && query.ignoreCase);
    assert.deepEqual([query.limit, query.offset], [2, 4]);
  });

  it('has one sort order for all attributes that it sorts by', () => {
    const { sort } = parse('sort_by=size,name&sort_order=descending').query;
    assert.ok(sort.every(({ descending }) => descending));
  });

  it('has a page size of at most a thousand', () => assert.equal(parse('limit=100000').query.limit, 1000));

  const refused: readonly [query: string, param: string][] = [
    ['limit=0', 'limit'],
    ['limit=-1', 'limit'],
    ['limit=1e3', 'limit'],
    ['limit=', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ["offset=0'", 'offset'],
    ['offset=-1', 'offset'],
    ['sort_by=nope', 'sort_by'],
    ['sort_by=labels', 'sort_by'],
    ['sort_by=name&sort_order=up', 'sort_order'],
    ['sort_order=asc', 'sort_order'],
    ['sort_by=name&sort_order=asc,desc', 'sort_order'],
    ['sort_by=name&sort_options=random', 'sort_options'],
    ['attributes=name,nope', 'attributes'],
    ['attributes=__proto__', 'attributes'],
    ['expand=everything', 'expand'],
    ['hide=name', 'hide'],
    ['filter[]=nope=1', 'filter[]'],
    ['sortby=name', 'sortby'],
  ];
  for (const [query, param] of refused) {
    it(`is refused with ${query}`, () =>
      assert.throws(
        () => parse(query),
        (error: unknown) =>
          error instanceof GatewayError && error.code === 'invalid_request' && error.param === param,
      ));
  }

  it('is refused with a GatewayError and nothing else', () => {
    const name = fc.constantFrom(
      'limit',
      'offset',
      'sort_by',
      'sort_order',
      'attributes',
      'expand',
      'hide',
      'x',
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(name, fc.string({ maxLength: 10 })), { maxLength: 5 }), (pairs) => {
        try {
          parseListQuery(new URLSearchParams(pairs), attributes);
        } catch (error) {
          assert.ok(error instanceof GatewayError, String(error));
        }
      }),
    );
  });
});

describe('a page of a collection', () => {
  const thing = (id: string, size: number | null = null): Row => ({ id, name: id, size, labels: [] });
  const seven = 'gfedcba'.split('').map((id) => thing(id));

  it('has counts and links to the other pages', () => {
    const { links, resources, ...counts } = page('limit=2&offset=2&sort_by=name', seven);
    assert.deepEqual(counts, { name: 'things', count: 7, subcount: 2, pages: 4 });
    assert.deepEqual(
      (resources as Row[]).map(({ id }) => id),
      ['c', 'd'],
    );
    const link = (offset: number) => `/api/v1.0.0/things?limit=2&offset=${offset}&sort_by=name`;
    assert.deepEqual(links, {
      self: link(2),
      next: link(4),
      previous: link(0),
      first: link(0),
      last: link(6),
    });
  });

  it('is the last one only if it has resources', () => {
    const { links } = page('limit=3', seven.slice(0, 6));
    assert.equal((links as Record<string, string>)['last'], '/api/v1.0.0/things?limit=3&offset=3');
  });

  it('counts the resources that match a filter separately', () => {
    const { links, resources, ...counts } = page("filter[]=name=['a','b','c']&limit=2&offset=0", seven);
    assert.deepEqual(counts, { name: 'things', count: 7, subcount: 2, subquery_count: 3, pages: 2 });
    const { next } = links as Record<string, string>;
    assert.equal(new URLSearchParams(next?.split('?')[1]).get('filter[]'), "name=['a','b','c']");
    assert.equal((resources as Row[]).length, 2);
  });

  it('links to the last page if it is beyond the end', () => {
    const { links, subcount } = page('limit=2&offset=100', seven);
    assert.equal(subcount, 0);
    assert.match(String((links as Record<string, string>)['previous']), /offset=6$/);
    assert.ok(!Object.hasOwn(links as object, 'next'));
  });

  it('has no pages if the collection is empty', () => {
    const { links, ...counts } = page('hide=resources', []);
    assert.deepEqual(counts, { name: 'things', count: 0, subcount: 0, pages: 0 });
    assert.ok(links);
  });

  it('sorts missing values last in either order, and keeps the order of equal ones', () => {
    const rows = [thing('x'), thing('b', 2), thing('y'), thing('a', 2), thing('c', 10)];
    const ids = (query: string) => (page(query, rows)['resources'] as Row[]).map(({ id }) => id).join('');
    assert.equal(ids('sort_by=size'), 'bacxy');
    assert.equal(ids('sort_by=size&sort_order=desc'), 'cbaxy');
  });

  it('ignores case if asked to', () => {
    const rows = ['b', 'B', 'a', 'C'].map((id) => thing(id));
    const ids = (query: string) => (page(query, rows)['resources'] as Row[]).map(({ id }) => id).join('');
    assert.equal(ids('sort_by=name'), 'BCab');
    assert.equal(ids('sort_by=name&sort_options=ignore_case'), 'abBC');
  });

  it('contains each resource exactly once together with the other pages', () => {
    fc.assert(
      fc.property(fc.nat({ max: 30 }), fc.integer({ min: 1, max: 7 }), (count, limit) => {
        const rows = Array.from({ length: count }, (_, index) => thing(String(index), (index * 7) % 5));
        const seen: string[] = [];
        let next: string | undefined = `?limit=${limit}&sort_by=size`;
        while (next !== undefined) {
          const body: Record<string, unknown> = page(next.split('?')[1] ?? '', rows);
          seen.push(...(body['resources'] as Row[]).map(({ id }) => id));
          next = (body['links'] as Record<string, string>)['next'];
        }
        assert.deepEqual(seen.toSorted(), rows.map(({ id }) => id).toSorted());
      }),
    );
  });
});
