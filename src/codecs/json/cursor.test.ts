import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { JsonCursor } from './cursor.ts';

function walked(json: string, maxDepth?: number | null) {
  const cursor = new JsonCursor(Buffer.from(json), 0, maxDepth);
  const parts: [name: string | null, text: string][] = [];
  while (cursor.next() && cursor.end() !== -1)
    parts.push([cursor.nameStart === -1 ? null : cursor.name(), cursor.text()]);
  return { parts, close: cursor.close, fault: cursor.fault };
}

describe('reading JSON in bytes', () => {
  it('gives what JSON.parse gives, also if values are skipped by their brackets', () => {
    fc.assert(
      fc.property(fc.object(), fc.array(fc.jsonValue()), fc.constantFrom(0, 2), (object, list, indent) => {
        const text = JSON.stringify(object, null, indent);
        const fields = Object.entries(JSON.parse(text));
        for (const depth of [undefined, null]) {
          const { close, fault, parts } = walked(text, depth);
          assert.deepEqual(
            parts.map(([name, value]) => [name, JSON.parse(value)]),
            fields,
          );
          assert.deepEqual([close, fault], [Buffer.byteLength(text) - 1, null]);
          const elements = walked(JSON.stringify(list, null, indent), depth).parts;
          assert.deepEqual(
            elements.map(([, value]) => JSON.parse(value)),
            JSON.parse(JSON.stringify(list)),
          );
        }
      }),
      { numRuns: 60 },
    );
  });

  for (const [json, at] of [
    ['{"a" 1}', 5],
    ['{"a":1 "b":2}', 7],
    ['{"a":1,}', 7],
    ['{"a":tru}', 5],
    ['{"a":', 5],
    ['[1,]', 3],
    ['"a"', 0],
  ] as const)
    it(`refuses ${json}`, () => {
      const { close, fault } = walked(json);
      assert.deepEqual([close, fault], [-1, { reason: 'invalid', at }]);
    });

  it('refuses JSON that is nested too deep', () => {
    assert.equal(walked('{"a":[[1]]}', 1).fault?.reason, 'too-deep');
  });

  it('reads no value before it is requested', () => {
    const cursor = new JsonCursor(Buffer.from('{"model":"a"'), 0);
    assert.equal(cursor.next(), true);
    assert.equal(cursor.name(), 'model');
    assert.equal(cursor.next(), false);
    assert.notEqual(cursor.fault, null);
  });
});
