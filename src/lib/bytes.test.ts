import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  base64OfText,
  base64UrlOfText,
  concatBytes,
  indexOfBytes,
  lastIndexOfBytes,
  latin1Text,
  probeOf,
  textOfBase64,
  utf8Bytes,
  utf8Length,
  utf8Text,
} from './bytes.ts';

/** Bytes as a browser has them, and as Node.js has them. */
const kinds = [
  ['Uint8Array', (bytes: Uint8Array) => Uint8Array.from(bytes)],
  ['Buffer', (bytes: Uint8Array) => Buffer.from(bytes)],
] as const;

const texts = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }));
const few = fc.uint8Array({ max: 3, maxLength: 40 });
const sequences = fc.uint8Array({ max: 3, minLength: 1, maxLength: 4 });

describe('bytes', () => {
  for (const [name, of] of kinds) {
    it(`of ${name} are read as Buffer reads them`, () => {
      fc.assert(
        fc.property(fc.uint8Array(), fc.nat(20), fc.nat(20), (bytes, start, end) => {
          const [own, buffer] = [of(bytes), Buffer.from(bytes)];
          assert.equal(utf8Text(own), buffer.toString('utf8'));
          assert.equal(utf8Text(own, start, end), buffer.toString('utf8', start, end));
          assert.equal(latin1Text(own, start, end), buffer.toString('latin1', start, end));
        }),
      );
      assert.equal(utf8Text(of(Buffer.from('\ufeffa'))), '\ufeffa');
    });

    it(`of ${name} are searched as Buffer searches them`, () => {
      fc.assert(
        fc.property(few, sequences, fc.nat(50), (bytes, sequence, from) => {
          const [own, buffer] = [of(bytes), Buffer.from(bytes)];
          assert.equal(indexOfBytes(own, sequence), buffer.indexOf(sequence));
          assert.equal(indexOfBytes(own, sequence, from), buffer.indexOf(sequence, from));
          assert.equal(lastIndexOfBytes(own, sequence), buffer.lastIndexOf(sequence));
          assert.equal(lastIndexOfBytes(own, sequence, from), buffer.lastIndexOf(sequence, from));
        }),
      );
    });
  }

  it('are searched from the rarest byte of a sequence', () => {
    const part = ({ offset, probe }: ReturnType<typeof probeOf>) => [offset, utf8Text(probe)];
    assert.deepEqual(part(probeOf(utf8Bytes('"service_tier"'))), [8, '_tier"']);
    assert.deepEqual(part(probeOf(utf8Bytes('a'))), [0, 'a']);
  });

  it('of texts are what Buffer makes of them', () => {
    fc.assert(
      fc.property(texts, (text) => {
        assert.deepEqual([...utf8Bytes(text)], [...Buffer.from(text)]);
        assert.equal(utf8Length(text), Buffer.byteLength(text));
        assert.equal(base64OfText(text), Buffer.from(text).toString('base64'));
        assert.equal(base64UrlOfText(text), Buffer.from(text).toString('base64url'));
        assert.equal(textOfBase64(base64OfText(text)), Buffer.from(text).toString());
      }),
    );
  });

  it('in base64 are read as leniently as Buffer reads them', () => {
    const digits = fc.string({ unit: fc.constantFrom('A', 'b', '7', '+', '/', '-', '_', '\n', ' ', '!') });
    fc.assert(
      fc.property(digits, fc.constantFrom('', '=', '=='), (text, padding) => {
        assert.equal(textOfBase64(text + padding), Buffer.from(text + padding, 'base64').toString());
      }),
    );
  });

  it('are put together in a copy', () => {
    const one = utf8Bytes('ab');
    const whole = concatBytes([one, utf8Bytes(''), utf8Bytes('c')]);
    one[0] = 0;
    assert.equal(utf8Text(whole), 'abc');
  });
});
