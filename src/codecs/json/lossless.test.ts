import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { numberText } from '../../../test/support/formats/arbitrary.ts';
import { withinCpu } from '../../../test/support/machine/cpu.ts';
import { fc } from '../../../test/support/machine/properties.ts';
import { LosslessNumber, numberOf, parseJson } from './lossless.ts';

/** What `JSON.parse` gives, with every number as its text. */
function texts(text: string): unknown {
  return JSON.parse(text, (_, value, context?: { source: string }) =>
    typeof value === 'number' ? { number: context?.source } : value,
  );
}

function textsIn(value: unknown): unknown {
  if (value instanceof LosslessNumber) return { number: value.text };
  if (typeof value === 'number') return { number: String(value) };
  if (Array.isArray(value)) return value.map(textsIn);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, textsIn(inner)]));
}

/** A document whose numbers are texts of their own, with white space between. */
const document = fc
  .tuple(fc.array(numberText, { minLength: 1, maxLength: 5 }), fc.string(), fc.constantFrom('', ' ', '\n\t'))
  .map(([numbers, text, space]) => {
    const list = numbers.join(`${space},${space}`);
    const literal = JSON.stringify(`${text}\\"1.0`);
    return `${space}{"a":[${list}],${literal}:${numbers[0]},"b":{"c":${space}${numbers[0]}${space}},"d":${literal}}`;
  });

describe('JSON whose numbers keep their digits', () => {
  it('is read as JSON.parse reads it, with each number as it was written, and written unchanged', () => {
    fc.assert(
      fc.property(document, (text) => {
        const value = parseJson(text);
        assert.deepEqual(textsIn(value), texts(text));
        const compact = JSON.stringify(value);
        assert.deepEqual(texts(compact), texts(text));
        assert.equal(JSON.stringify(parseJson(compact)), compact);
      }),
    );
  });

  it('is refused if JSON.parse refuses it', () => {
    const broken = [
      '01.0',
      '1.',
      '.5',
      '1e',
      '-',
      '--1.0',
      '1.0 2.0',
      '{1.0:2}',
      '{"a":1,1.0:2}',
      '[1.0',
      '"a" 1.0',
    ];
    for (const text of [...broken, 'true1.0', '1.0"a"', '[1.0}', '{"a" 1.0}', '+1.0', '1.0.0', '"1.0', '']) {
      assert.throws(() => JSON.parse(text), SyntaxError, text);
      assert.throws(() => parseJson(text), SyntaxError, text);
    }
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'{}[]",:\\ 10.eE-+ta') }), (text) => {
        const outcome = (parse: (text: string) => unknown) => {
          try {
            return { value: parse(text) };
          } catch (error) {
            return (error as Error).name;
          }
        };
        assert.deepEqual(
          outcome((one) => textsIn(parseJson(one))),
          outcome(texts),
        );
      }),
      { numRuns: 2_000 },
    );
  });

  it('keeps fields with unusual names, and values of any depth', () => {
    const odd = parseJson('{"__proto__":1.0,"constructor":[-0]}');
    assert.equal(JSON.stringify(odd), '{"__proto__":1.0,"constructor":[-0]}');
    const depth = 50_000;
    const deep = `${'['.repeat(depth)}1.0${']'.repeat(depth)}`;
    let inner = parseJson(deep);
    for (let level = 0; level < depth; level += 1) inner = (inner as unknown[])[0];
    assert.equal(numberOf(inner), 1);
  });

  it('takes time in proportion to its length', () => {
    const text = `[${'1.0,'.repeat(100_000)}"${'\\'.repeat(200_000)}"${',"\\\\"'.repeat(50_000)}]`;
    withinCpu(500, 'reading 100,000 numbers', () => parseJson(text));
  });
});
