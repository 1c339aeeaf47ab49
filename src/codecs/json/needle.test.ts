import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { fieldNeedle, lastIndexOfNeedle } from './needle.ts';

const names = fc.constantFrom('usage', 'service_tier', 'finish_reason', 'a', 'response.completed');
const texts = fc.array(
  fc.constantFrom(
    '"usage"',
    'usage"',
    '"service_tier"',
    '_tier"',
    '"a"',
    ':1,',
    '"finish_reason"',
    '{',
    '\\',
  ),
);

describe('a field in the bytes of an answer', () => {
  it('is found by the last occurrence of its name', () => {
    fc.assert(
      fc.property(texts, names, (pieces, name) => {
        const bytes = Buffer.from(pieces.join(''));
        const expected = bytes.lastIndexOf(`"${name}"`);
        assert.equal(lastIndexOfNeedle(bytes, fieldNeedle(name)), expected);
        assert.equal(lastIndexOfNeedle(Uint8Array.from(bytes), fieldNeedle(name)), expected);
      }),
    );
  });
});
