import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/support/machine/properties.ts';
import { createToken, hashToken, isTokenText, tokenHint } from './text.ts';

describe('the text of a token', () => {
  it('has a prefix, 256 random bits and a checksum', () => {
    const token = createToken('gws');
    assert.match(token, /^gws_[A-Za-z0-9_-]{43}[0-9A-Za-z]{6}$/);
    assert.ok(isTokenText(token) && isTokenText(createToken('gwa')));
    assert.equal(tokenHint(token).length, 9);
    assert.match(hashToken(token), /^[0-9a-f]{64}$/);
  });

  it('ends with its CRC-32 in base 62', () => {
    const head = `gws_${'A'.repeat(43)}`;
    assert.equal(isTokenText(`${head}2I9j5R`), true);
    assert.equal(isTokenText(`${head}000000`), false);
  });

  it('is never the same twice, and its characters are evenly spread', () => {
    const tokens = Array.from({ length: 10_000 }, () => createToken('gws'));
    assert.equal(new Set(tokens).size, tokens.length);
    const counts = new Map<string, number>();
    // The 43rd character of base64url holds four bits and two zeros.
    for (const token of tokens)
      for (const character of token.slice(4, 46)) counts.set(character, (counts.get(character) ?? 0) + 1);
    const expected = (tokens.length * 42) / 64;
    let chi = 0;
    for (const count of counts.values()) chi += (count - expected) ** 2 / expected;
    assert.equal(counts.size, 64);
    // 63 degrees of freedom: more than 130 comes once in a million runs.
    assert.ok(chi < 130, `chi-square ${chi}`);
  });

  it('detects a typing error: any other character, length or case', () => {
    fc.assert(
      fc.property(fc.nat(52), fc.constantFrom(...'aZ09_-. ,'), (place, character) => {
        const token = createToken('gws');
        const changed = `${token.slice(0, place)}${character}${token.slice(place + 1)}`;
        assert.equal(isTokenText(changed), changed === token);
        assert.equal(isTokenText(token.slice(0, place)), false);
        assert.equal(isTokenText(`${token}${character}`), false);
      }),
    );
  });

  it('never throws for any text', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => assert.equal(isTokenText(text), false)));
  });
});
