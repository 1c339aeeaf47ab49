import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { utf8Bytes } from '../../lib/bytes.ts';
import { stringEnd } from './bytes.ts';

/** Texts that are longer than what is looked at byte by byte, full of what has to be escaped. */
const text = fc
  .array(
    fc.oneof(
      fc.constantFrom('"', '\\', '\\"', '\n', 'ä'),
      fc.integer({ min: 0, max: 130 }).map((length) => 'x'.repeat(length)),
    ),
  )
  .map((parts) => parts.join(''));

describe('stringEnd', () => {
  it('finds the end of a string, whatever is escaped in it', () => {
    fc.assert(
      fc.property(text, (value) => {
        const literal = JSON.stringify(value);
        const bytes = utf8Bytes(`[${literal},"next"]`);
        assert.equal(stringEnd(bytes, 1), 1 + utf8Bytes(literal).length);
      }),
    );
  });

  it('finds no end where the bytes end first', () => {
    fc.assert(
      fc.property(text, fc.nat(), (value, cut) => {
        const bytes = utf8Bytes(JSON.stringify(value));
        assert.equal(stringEnd(bytes.subarray(0, 1 + (cut % (bytes.length - 1))), 0), -1);
      }),
    );
  });
});
