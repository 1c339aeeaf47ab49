import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/support/machine/properties.ts';
import { jsonAnswer } from './json-answer.ts';

const document = fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue()));
const space = fc.stringMatching(/^[ \t\r\n]*$/);
/** More than is read. */
const large = 'x'.repeat(1_100_000);

describe('a whole answer', () => {
  it('is any object or list, with white space or a byte order mark around it', () => {
    fc.assert(
      fc.property(document, space, fc.boolean(), (value, around, marked) => {
        const text = `${marked ? '\ufeff' : ''}${around}${JSON.stringify(value)}${around}`;
        const answer = jsonAnswer(Buffer.from(text));
        assert.equal(answer?.list, Array.isArray(value));
        assert.deepEqual(answer.read(), JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('is not a truncated one, nor one with trailing text', () => {
    fc.assert(
      fc.property(document, fc.nat(), fc.constantFrom('x', '{}', ']', '\0', '"'), (value, at, behind) => {
        const text = JSON.stringify(value);
        assert.equal(jsonAnswer(Buffer.from(text.slice(0, at % text.length))), null);
        assert.equal(jsonAnswer(Buffer.from(text + behind)), null);
      }),
    );
  });

  it('is not a scalar or something that only looks like JSON', () => {
    for (const text of [
      '',
      ' ',
      'null',
      '42',
      'true',
      '"text"',
      'NaN',
      '{"a":NaN}',
      "{'a':1}",
      '{"a":1,}',
      '<html>',
    ])
      assert.equal(jsonAnswer(Buffer.from(text)), null, text);
  });

  it('is read with all digits of its numbers', () => {
    const text = '{"id":1234567890123456789,"list":[1.0]}';
    assert.equal(JSON.stringify(jsonAnswer(Buffer.from(text))?.read()), text);
  });

  it('that is large is recognized by its ends', () => {
    const whole = JSON.stringify({ large });
    assert.deepEqual(jsonAnswer(Buffer.from(`${whole}\n`))?.read(), { large });
    assert.equal(jsonAnswer(Buffer.from(JSON.stringify([large])))?.list, true);
    for (const text of [whole.slice(0, -2), `${whole}x`, `[${whole}`, `x${whole}`, `"${large}"`])
      assert.equal(jsonAnswer(Buffer.from(text)), null, text.slice(0, 20));
  });
});
