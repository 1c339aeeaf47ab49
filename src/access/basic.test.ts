import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../test/support/machine/properties.ts';
import { readBasic } from './basic.ts';

const encoded = (text: string | Uint8Array) => `Basic ${Buffer.from(text).toString('base64')}`;

describe('a Basic login', () => {
  it('is base64 of UTF-8, separated by the first colon', () => {
    assert.deepEqual(readBasic(encoded('alice:a:b')), { name: 'alice', password: 'a:b' });
    assert.deepEqual(readBasic(encoded('alice:päss wörd 🔑')), { name: 'alice', password: 'päss wörd 🔑' });
    assert.deepEqual(readBasic(encoded('alice:')), { name: 'alice', password: '' });
  });

  it('is taken as it is, including byte order marks', () => {
    assert.deepEqual(readBasic(encoded('\ufeffalice:x')), { name: '\ufeffalice', password: 'x' });
  });

  it('may have 2048 characters of base64', () => {
    const longest = readBasic(encoded(`a:${'x'.repeat(1534)}`));
    assert.equal(longest?.password.length, 1534);
    assert.equal(readBasic(encoded(`a:${'x'.repeat(1535)}`)), null);
  });

  it('accepts the scheme in any case, and more than one space', () => {
    const value = Buffer.from('a:b').toString('base64');
    for (const scheme of ['basic', 'BASIC', 'bAsIc '])
      assert.deepEqual(readBasic(`${scheme} ${value} `), { name: 'a', password: 'b' });
  });

  it('is rejected when it is malformed or too long', () => {
    const bad = [
      '',
      'Basic',
      'Basic ',
      'Basic !!!',
      'Basic YTpi YTpi',
      'Basic YTpi,YTpi',
      'Bearer YTpi',
      'BasicYTpi',
      'X-Basic YTpi',
      encoded('no colon'),
      encoded(':no name'),
      encoded('a:b\u0000c'),
      encoded('a\nb:c'),
      encoded(Uint8Array.of(97, 58, 0xff, 0xfe)),
      encoded(`a:${'x'.repeat(65_536)}`),
    ];
    for (const value of bad) assert.equal(readBasic(value), null, value.slice(0, 40));
  });

  it('decodes to whatever was encoded', () => {
    const text = fc
      .string({ unit: 'grapheme', maxLength: 60 })
      .filter((some) => !/[\u0000-\u001f\u007f]/.test(some));
    fc.assert(
      fc.property(
        text.filter((name) => name !== '' && !name.includes(':')),
        text,
        (name, password) => {
          assert.deepEqual(readBasic(encoded(`${name}:${password}`)), { name, password });
        },
      ),
    );
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.string({ unit: 'binary' }), (bytes, text) => {
        readBasic(encoded(bytes));
        readBasic(`Basic ${text}`);
        readBasic(text);
      }),
    );
  });
});
