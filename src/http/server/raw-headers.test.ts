import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/support/machine/properties.ts';
import { headerValues } from './raw-headers.ts';

describe('the values of a header', () => {
  it('are all that were sent under its name, in any case, in order', () => {
    const raw = ['X-A', '1', 'x-ab', '2', 'X-a', '3', 'x-A', ''];
    assert.deepEqual(headerValues(raw, 'x-a'), ['1', '3', '']);
    assert.deepEqual(headerValues(raw, 'x-b'), []);
  });

  it('have the white space around them removed, but not within them', () => {
    const blanks = fc.string({ unit: fc.constantFrom(' ', '\t'), maxLength: 5 });
    const inner = fc.string({ unit: fc.constantFrom('a', ' ', '\t', '\u00a0'), maxLength: 8 });
    fc.assert(
      fc.property(blanks, inner, blanks, (before, value, after) => {
        const [header] = headerValues(['x-a', before + value + after], 'x-a');
        assert.equal(header, value.replace(/^[ \t]+/, '').replace(/[ \t]+$/, ''));
      }),
    );
  });
});
