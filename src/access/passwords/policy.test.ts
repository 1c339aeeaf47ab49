import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fc } from '../../../test/support/machine/properties.ts';
import { loadCommonPasswords, passwordProblem } from './policy.ts';

const common = loadCommonPasswords();
const problem = (password: string, name = 'alice') => passwordProblem(password, name, common);

describe('a new password', () => {
  it('has 8 to 128 characters, as people count them', () => {
    assert.match(problem('kQ9#mZ2') ?? '', /at least 8/);
    assert.equal(problem('kQ9#mZ2x'), undefined);
    assert.match(problem('🔑🐙🦊🌵🎈🧊🪐') ?? '', /at least 8/);
    assert.equal(problem('🔑🐙🦊🌵🎈🧊🪐🍋'), undefined);
    const words = 'the quick brown fox and a lazy dog '.repeat(4);
    assert.equal(problem(words.slice(0, 64)), undefined);
    assert.equal(problem(words.slice(0, 128)), undefined);
    assert.match(problem(words.slice(0, 129)) ?? '', /at most 128/);
  });

  it('is not a commonly guessed password', () => {
    const { passwords } = JSON.parse(
      readFileSync(new URL('./common-passwords.gen.json', import.meta.url), 'utf8'),
    );
    const all: string[] = passwords.split(' ');
    assert.equal(new Set(all).size, 3000);
    for (const one of all) {
      assert.notEqual(problem(one), undefined, one);
      assert.notEqual(problem(one.toUpperCase()), undefined, one);
    }
    for (const one of [
      'aaaaaaaa',
      'abababab',
      'abcabcabca',
      'abcdefgh',
      '87654321',
      '12345678',
      '          ',
    ])
      assert.notEqual(problem(one), undefined, one);
  });

  it('is not just the name of the user or of the program', () => {
    for (const one of ['modelgate', 'ModelGate1', 'gateway-2026!', 'admin-admin', 'Admin1234', 'Passwort!1'])
      assert.notEqual(problem(one), undefined, one);
    for (const one of ['alice2026', 'Alice-alice', '!!alice!!'])
      assert.notEqual(problem(one), undefined, one);
    assert.equal(problem('alice2026', 'bob'), undefined);
    assert.equal(problem('gateway to the stars'), undefined);
    assert.equal(problem('correct horse'), undefined);
  });

  it('has no control characters, which Basic cannot carry', () => {
    assert.notEqual(problem('kQ9#\u0000mZ2xy'), undefined);
    assert.notEqual(problem('kQ9#\nmZ2xyzz'), undefined);
  });

  it('needs no particular kinds of characters', () => {
    const word = fc.stringMatching(/^[a-z]{30}$/);
    fc.assert(
      fc.property(word, (text) => {
        assert.equal(problem(text), undefined);
      }),
    );
  });
});
