import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../test/support/machine/properties.ts';
import { faultOfJsonText } from './json-text.ts';

/** Whether all names and texts of a value are whole characters. */
function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, one]) => name.isWellFormed() && isWellFormed(one));
}

describe('JSON text', () => {
  it('keeps a lone surrogate, however it is escaped', () => {
    const unit = fc.constantFrom(
      'a',
      '\\',
      '"',
      '\n',
      '[',
      '\ud83d\ude00',
      '\ud800',
      '\udbff',
      '\udc00',
      '\udfff',
    );
    const text = fc.string({ unit, maxLength: 6 });
    const value = fc.oneof(text, fc.array(text, { maxLength: 3 }), fc.dictionary(text, text, { maxKeys: 3 }));
    fc.assert(
      fc.property(value, fc.boolean(), (one, escapeAll) => {
        const plain = JSON.stringify(one);
        const json = escapeAll
          ? plain.replace(/[\ud800-\udfff]/g, (half) => `\\u${half.charCodeAt(0).toString(16).toUpperCase()}`)
          : plain;
        const expected = isWellFormed(JSON.parse(json)) ? null : 'half a character';
        assert.equal(faultOfJsonText(json), expected, json);
      }),
    );
  });

  it('may be nested a hundred levels deep, not counting brackets in strings', () => {
    const nested = (depth: number) => `${'[{"a":'.repeat(depth / 2)}1${'}]'.repeat(depth / 2)}`;
    assert.equal(faultOfJsonText(nested(100)), null);
    assert.equal(faultOfJsonText(nested(102)), 'too deep');
    assert.equal(faultOfJsonText(JSON.stringify(['['.repeat(1000)])), null);
    assert.equal(faultOfJsonText('[],'.repeat(1000)), null);
  });

  it('is read to its end, whatever it contains', () => {
    for (const text of ['', '"', '"\\', '"\\u', '"\\u12', '\\', ']]]', '{"a"'])
      assert.equal(faultOfJsonText(text), null, text);
  });
});
