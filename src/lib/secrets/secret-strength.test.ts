import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { weaknessOf } from './secret-strength.ts';

describe('the strength of a secret', () => {
  it('takes what the usual commands make of 128 bits and more', () => {
    for (let count = 0; count < 200; count += 1) {
      for (const bytes of [16, 24, 32]) {
        for (const encoding of ['hex', 'base64', 'base64url'] as const) {
          const secret = randomBytes(bytes).toString(encoding);
          assert.equal(weaknessOf(secret), null, secret);
        }
      }
      assert.equal(weaknessOf(randomUUID()), null);
    }
    assert.equal(weaknessOf('correct horse battery staple'), null);
    assert.equal(weaknessOf(`${randomBytes(32).toString('base64')}\n`), null, 'as a file has it');
  });

  it('refuses what is short or plainly not random, and says why', () => {
    assert.match(weaknessOf('x') ?? '', /^it has 1 base64 characters, .* must have 22 \(128 bits\)$/);
    for (const [secret, why] of [
      ['', /empty/],
      ['   ', /empty/],
      ['changeme', /22/],
      ['0123456789abcdef', /16 hexadecimal digits, which is at most 64 bits, and must have 32/],
      ['1234567890123456789012345678901', /31 digits/],
      [randomBytes(15).toString('base64'), /20 base64 characters/],
      ['a'.repeat(64), /1 different/],
      ['ab'.repeat(32), /2 different/],
      ['secret '.repeat(8), /different/],
    ] as const)
      assert.match(weaknessOf(secret) ?? 'nothing', why, secret);
  });
});
