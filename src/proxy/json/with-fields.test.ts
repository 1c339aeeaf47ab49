import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/support/machine/properties.ts';
import { withFields } from './with-fields.ts';

const text = (body: string, without: readonly string[], added: Record<string, unknown> = {}) =>
  Buffer.concat(withFields(Buffer.from(body), without, added)).toString('utf8');

describe('fields of a body', () => {
  it('are left out and added, and what stays keeps its bytes', () => {
    const body =
      '{ "model" : "x", "n":12345678901234567890,\n "stream": true, "deep": { "model": [1, 2.50] } }';
    assert.equal(
      text(body, ['model', 'stream'], { version: 'v' }),
      '{"version":"v","n":12345678901234567890,"deep": { "model": [1, 2.50] }}',
    );
    assert.equal(text('{}', ['model']), '{}');
    assert.equal(text('{"model":1}', ['model']), '{}');
    assert.equal(text('\ufeff {"a":1}', [], { b: 2 }), '{"b":2,"a":1}');
  });

  it('are recognized with escapes and duplicates, and an added one replaces the client’s', () => {
    assert.equal(text('{"\\u006dodel":1,"a":2,"model":3}', ['model']), '{"a":2}');
    assert.equal(text('{"v":"theirs","a":2}', [], { v: 'ours' }), '{"v":"ours","a":2}');
  });

  it('produce the same object as JSON.parse and JSON.stringify', () => {
    const objects = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(objects, fc.array(fc.string()), (object, names) => {
        const without = [...names, ...Object.keys(object).slice(0, 2)];
        const rest = Object.fromEntries(Object.entries(object).filter(([name]) => !without.includes(name)));
        const { __proto__: _, ...plain } = rest;
        const read = JSON.parse(text(JSON.stringify(plain), without, { added: 1 }));
        assert.deepEqual(read, JSON.parse(JSON.stringify({ ...plain, added: 1 })));
      }),
    );
  });

  it('of what is no JSON object are refused', () => {
    for (const body of [
      '',
      '[]',
      '{',
      '{"a"}',
      '{"a":1,}',
      '{"a":1} x',
      '{}{}',
      '{"a":tru}',
      '{"a":1 "b":2}',
      '{a:1}',
    ])
      assert.throws(() => text(body, []), { code: 'invalid_json' }, body);
  });
});
