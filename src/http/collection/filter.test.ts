import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { z } from 'zod';
import { fc } from '../../../test/support/machine/properties.ts';
import { GatewayError } from '../../lib/error.ts';
import type { Condition, Row } from '../resource.ts';
import { attributesOf } from './attributes.ts';
import { parseFilters } from './filter.ts';
import { select } from './select.ts';

const record = z.object({
  id: z.string(),
  name: z.string(),
  state: z.enum(['running', 'stopped']).nullable(),
  restarts: z.number(),
  critical: z.boolean(),
  started_at: z.iso.datetime().nullable(),
  labels: z.array(z.string()),
  health: z.object({ status: z.string(), checks: z.array(z.unknown()) }),
  secret: z.string(),
});
const attributes = attributesOf(record, new Set(['secret']));

const rows: Row[] = [
  row('mcp', { state: 'running', restarts: 2, critical: false, labels: ['edge', 'eu'] }),
  row('store', { state: 'running', restarts: 0, critical: true, labels: [] }),
  row('a2a', { state: 'stopped', restarts: 11, critical: false, started_at: null, labels: ['eu'] }),
  row("it's", { state: null, restarts: 0, critical: false, labels: ['50%'] }),
];

function row(name: string, members: Record<string, unknown>): Row {
  return {
    id: name,
    name,
    started_at: '2026-11-21T10:00:00Z',
    health: { status: name === 'mcp' ? 'pass' : 'warn' },
    ...members,
  };
}

function names(...filters: string[]): unknown[] {
  const query = {
    groups: parseFilters(filters, attributes),
    sort: [],
    ignoreCase: false,
    limit: 100,
    offset: 0,
  };
  return select(rows, query, attributes).rows.map(({ name }) => name);
}

function refusal(...filters: string[]): GatewayError {
  try {
    names(...filters);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  return assert.fail(`was taken: ${filters.join(' & ')}`);
}

describe('a filter', () => {
  const cases: readonly [filters: string[], names: string[]][] = [
    [["state='running'"], ['mcp', 'store']],
    [['state = "running"', 'restarts>0'], ['mcp']],
    [
      ["state='stopped'", "or name='store'"],
      ['store', 'a2a'],
    ],
    [
      ["or name='store'", "or name='mcp'"],
      ['mcp', 'store'],
    ],
    [["name='*c*'"], ['mcp']],
    [['name=%2%'], ['a2a']],
    [["name!='m*'"], ['store', 'a2a', "it's"]],
    [["name=='m*'"], []],
    [["name='it''s'"], ["it's"]],
    [['name="it\'s"'], ["it's"]],
    [['state=NULL'], ["it's"]],
    [['state!=nil'], ['mcp', 'store', 'a2a']],
    [["state!='running'"], ['a2a', "it's"]],
    [['name=[\'mcp\', store ,"a2a"]'], ['mcp', 'store', 'a2a']],
    [['restarts=[0,11]'], ['store', 'a2a', "it's"]],
    [['critical=true'], ['store']],
    [['critical=[true]'], ['store']],
    [['restarts>=2'], ['mcp', 'a2a']],
    [["name<'b'"], ['a2a']],
    [['started_at=2026-11-21T12:00:00+02:00'], ['mcp', 'store', "it's"]],
    [['started_at<2026-11-21'], []],
    [["started_at > '2026-11-20'"], ['mcp', 'store', "it's"]],
    [['name=~^.(2|c)'], ['mcp', 'a2a']],
    [['name=~/^MC/i'], ['mcp']],
    [["name!~'^[ms]'"], ['a2a', "it's"]],
    [['labels=eu'], ['mcp', 'a2a']],
    [['labels!=eu'], ['store', "it's"]],
    [["labels=='50%'"], ["it's"]],
    [["health.status='pass'"], ['mcp']],
    [
      ['', '  '],
      ['mcp', 'store', 'a2a', "it's"],
    ],
  ];
  for (const [filters, expected] of cases) {
    it(`selects by ${filters.join(' & ')}`, () => assert.deepEqual(names(...filters), expected));
  }

  const refused: readonly [filter: string, complaint: RegExp][] = [
    ['nope=1', /no attribute "nope"/],
    ["secret='x'", /no attribute "secret"/],
    ['health=1', /cannot be filtered/],
    ['constructor=1', /no attribute/],
    ['name', /not a filter/],
    ['name~x', /not an operator/],
    ['name=!x', /not an operator/],
    ['name=', /needs a value/],
    ["name='x", /no end/],
    ["name='x'y", /after the quoted/],
    ["name!=['a']", /only with =/],
    ['name=[]', /missing/],
    ["name=['a'", /written/],
    ['restarts=many', /is a number/],
    ['restarts=1*', /is a number/],
    ['critical=1', /true or false/],
    ['critical>true', /no order/],
    ['started_at=yesterday', /is a time/],
    ['started_at=2026-13-45', /is a time/],
    ['restarts<NULL', /NULL/],
    ['restarts=~1', /not a text/],
    ['name=~(', /cannot be read/],
    ['name=~(?=a)', /only "\(\?:"/],
  ];
  for (const [filter, complaint] of refused) {
    it(`is refused: ${filter}`, () => {
      const error = refusal(filter);
      assert.equal(error.code, 'invalid_request');
      assert.equal(error.param, 'filter[]');
      assert.match(error.message, complaint);
    });
  }

  it('gives the same error for an unknown attribute and a hidden one', () => {
    const [unknown, hidden] = [refusal("nope12='x'"), refusal("secret='x'")];
    assert.equal(hidden.message.replace('secret', 'nope12'), unknown.message);
  });

  it('is refused after fifty others', () => assert.match(refusal(...Array(51).fill('name=a')).message, /50/));

  it('is refused with a GatewayError and nothing else', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        'name',
        'restarts',
        'labels',
        'or ',
        '=',
        '!=',
        '=~',
        "'",
        '"',
        '[',
        ',',
        ']',
        'NULL',
        '/',
      ),
      fc.string({ maxLength: 8 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        try {
          names(pieces.join(''));
        } catch (error) {
          assert.ok(error instanceof GatewayError, String(error));
        }
      }),
      { numRuns: 3_000 },
    );
  });

  it('has wildcards that match any characters', () => {
    const unit = fc.constantFrom('a', 'b', '*', '%');
    const pattern = fc.string({ unit, minLength: 1, maxLength: 6 });
    const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 6 });
    fc.assert(
      fc.property(pattern, text, (source, name) => {
        const groups = parseFilters([`name='${source}'`], attributes);
        const query = { groups, sort: [], ignoreCase: false, limit: 1, offset: 0 };
        const expected = new RegExp(`^${source.replaceAll(/[*%]/g, '.*')}$`).test(name);
        assert.equal(select([{ id: 'x', name }], query, attributes).filtered === 1, expected);
      }),
      { numRuns: 2_000 },
    );
  });

  it('selects what a comparison in JavaScript selects', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', "'", '"', ',', ']', ' ', '/'), maxLength: 4 });
    const holds: Record<string, (one: string | number, other: string | number) => boolean> = {
      '==': (one, other) => one === other,
      '!==': (one, other) => one !== other,
      '=': (one, other) => one === other,
      '!=': (one, other) => one !== other,
      '<': (one, other) => one < other,
      '<=': (one, other) => one <= other,
      '>': (one, other) => one > other,
      '>=': (one, other) => one >= other,
    };
    const condition = fc.record({
      attribute: fc.constantFrom('name', 'restarts'),
      operator: fc.constantFrom(...Object.keys(holds)) as fc.Arbitrary<Condition['operator']>,
      or: fc.boolean(),
      text,
      number: fc.integer({ min: -3, max: 3 }),
      quote: fc.constantFrom("'", '"'),
    });
    const member = fc.record({ name: text, restarts: fc.integer({ min: -3, max: 3 }) });
    fc.assert(
      fc.property(fc.array(condition, { maxLength: 4 }), fc.array(member), (conditions, members) => {
        const filters = conditions.map(({ attribute, number, operator, or, quote, text: value }) => {
          const quoted = `${quote}${value.replaceAll(quote, quote + quote)}${quote}`;
          return `${or ? 'or ' : ''}${attribute} ${operator} ${attribute === 'name' ? quoted : number}`;
        });
        const fits = (one: { name: string; restarts: number }): boolean => {
          const holding = ({ attribute, number, operator, text: value }: (typeof conditions)[number]) =>
            attribute === 'name'
              ? holds[operator]?.(one.name, value)
              : holds[operator]?.(one.restarts, number);
          const together = conditions.filter(({ or }) => !or);
          const all = together.length > 0 && together.every(holding);
          return conditions.length === 0 || all || conditions.some((each) => each.or && holding(each));
        };
        const groups = parseFilters(filters, attributes);
        const all = members.map((one, index) => ({ id: String(index), ...one }));
        const query = { groups, sort: [], ignoreCase: false, limit: 1000, offset: 0 };
        assert.deepEqual(select(all, query, attributes).rows, all.filter(fits));
      }),
    );
  });
});
