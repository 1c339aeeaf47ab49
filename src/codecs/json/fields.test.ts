import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/support/machine/properties.ts';
import { rewriteElements, rewriteField, rewriteFields } from './fields.ts';

const spaces = fc.constantFrom(0, 1, 2);
const objects = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 6 });

describe('rewriting JSON in bytes', () => {
  it('returns the same buffer if nothing changes', () => {
    fc.assert(
      fc.property(fc.jsonValue(), spaces, (value, space) => {
        const bytes = Buffer.from(JSON.stringify(value, null, space));
        assert.equal(
          rewriteFields(bytes, ({ whole }) => whole),
          bytes,
        );
        assert.equal(
          rewriteElements(bytes, (item) => item),
          bytes,
        );
      }),
    );
  });

  it('removes fields and leaves the rest as it is', () => {
    fc.assert(
      fc.property(objects, spaces, fc.func(fc.boolean()), (object, space, goes) => {
        const bytes = Buffer.from(JSON.stringify(object, null, space));
        const rewritten = rewriteFields(bytes, ({ name, whole }) => (goes(name) ? null : whole));
        const expected = Object.fromEntries(Object.entries(object).filter(([name]) => !goes(name)));
        assert.deepEqual(JSON.parse(rewritten.toString()), JSON.parse(JSON.stringify(expected)));
        const list = Object.values(object);
        const without = rewriteElements(Buffer.from(JSON.stringify(list, null, space)), (item) =>
          goes(JSON.stringify(JSON.parse(item.toString()))) ? null : item,
        );
        const left = list.filter((item) => !goes(JSON.stringify(item)));
        assert.deepEqual(JSON.parse(without.toString()), JSON.parse(JSON.stringify(left)));
      }),
    );
  });

  it('replaces one value and leaves the bytes around it', () => {
    const bytes = Buffer.from('{ "a" : 1e400, "b" : [ 1.0,2 ] , "c":12345678901234567890 }');
    const written = rewriteField(bytes, 'b', (list) =>
      rewriteElements(list, (item) => (item[0] === 0x32 ? null : item)),
    );
    assert.equal(written.toString(), '{ "a" : 1e400, "b" : [ 1.0 ] , "c":12345678901234567890 }');
  });
});
