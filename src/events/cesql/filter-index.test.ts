import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type CesqlEvent, type CompileOptions, compile, createFilterIndex, functionsWith } from './cesql.ts';

function indexOf(texts: readonly string[], options?: CompileOptions) {
  return createFilterIndex(
    texts.map((text) => {
      const compiled = compile(text, options);
      assert.ok(compiled.ok, text);
      return { key: text, expression: compiled.expression };
    }),
  );
}

const event = { specversion: '1.0', id: '1', source: '/orders/7', type: 'com.example.made', hop: 5 };

describe('an index of CESQL filters', () => {
  it('gives the keys in their order', () => {
    const texts = [
      "source LIKE '/orders/%'",
      "type = 'com.example.made'",
      'TRUE',
      "type = 'other'",
      'EXISTS hop',
    ];
    assert.deepEqual(indexOf(texts).match(event), [texts[0], texts[1], texts[2], texts[4]]);
  });

  it('evaluates equal filters once, and finds filters by what they demand', () => {
    const { statistics } = indexOf([
      "type = 'a'",
      'Type="a"',
      "type = 'b' AND hop > 3",
      "source IN ('x', 'y') AND hop > 3",
      "type LIKE 'c%' OR source LIKE '%d'",
      'hop > 3 AND NOT (id = 1)',
      'NOT EXISTS hop',
      'LENGTH(id) > 1',
    ]);
    assert.deepEqual(statistics, { filters: 8, distinct: 7, indexed: 5, sharedParts: 1 });
  });

  const counted = () => {
    let calls = 0;
    const count = {
      name: 'SEEN',
      parameters: ['String'] as const,
      returns: 'Boolean' as const,
      run: () => {
        calls += 1;
        return true;
      },
    };
    return { functions: functionsWith([count]), calls: () => calls };
  };

  it('evaluates for an event only the filters that may let it pass', () => {
    const { calls, functions } = counted();
    const others = Array.from({ length: 200 }, (_, n) => `type = 't${n}' AND SEEN(type)`);
    const prefixes = Array.from({ length: 200 }, (_, n) => `source LIKE '/p${n}/%' AND SEEN(source)`);
    const index = indexOf([...others, ...prefixes, 'EXISTS nothing AND SEEN(id)'], { functions });
    assert.deepEqual(index.match({ ...event, type: 't77' }), ["type = 't77' AND SEEN(type)"]);
    assert.deepEqual(index.match({ ...event, source: '/p3/x' }), ["source LIKE '/p3/%' AND SEEN(source)"]);
    assert.equal(calls(), 2);
  });

  it('evaluates a part of several filters once for an event', () => {
    const { calls, functions } = counted();
    const expressions = Array.from({ length: 50 }, (_, n) => `SEEN(id) AND LENGTH(source) < ${n}`);
    const index = indexOf(expressions, { functions });
    assert.equal(index.match(event).length, 40);
    assert.equal(calls(), 1);
  });

  it('may be asked about another event while it is asked about one', () => {
    const inner: string[][] = [];
    const asks = {
      name: 'ASK',
      parameters: [],
      returns: 'Boolean' as const,
      run: () => {
        if (inner.length === 0) {
          inner.push([]);
          inner[0] = index.match({ ...event, id: '2' });
        }
        return true;
      },
    };
    const texts = [
      "(id = '1' XOR FALSE) AND ASK()",
      "(id = '1' XOR FALSE) AND hop = 5",
      "NOT (id = '1') AND ASK()",
    ];
    const index = indexOf(texts, { functions: functionsWith([asks]) });
    assert.deepEqual(index.match(event), texts.slice(0, 2));
    assert.deepEqual(inner, [[texts[2]]]);
  });

  it('compares attributes that are no texts as each filter does', () => {
    const texts = ["hop = '05'", "hop IN ('05')", "'05' = hop", "hop LIKE '5%'", 'hop = 5', "hop = '5'"];
    const passing = (on: CesqlEvent) => indexOf(texts).match(on);
    assert.deepEqual(passing(event), [
      "hop IN ('05')",
      "'05' = hop",
      "hop LIKE '5%'",
      'hop = 5',
      "hop = '5'",
    ]);
    assert.deepEqual(passing({ ...event, hop: '05' }), [
      "hop = '05'",
      "hop IN ('05')",
      "'05' = hop",
      'hop = 5',
    ]);
  });
});
