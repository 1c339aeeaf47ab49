import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withinCpu } from '../../../test/support/machine/cpu.ts';
import { fc } from '../../../test/support/machine/properties.ts';
import { captures, compileAliases } from './aliases.ts';

const aliasesOf = (records: Readonly<Record<string, string>>) =>
  compileAliases(Object.entries(records).map(([name, target]) => ({ id: name, name, target, createdAt: 0 })));

describe('a pattern', () => {
  it('captures what each * stands for', () => {
    assert.deepEqual(captures('claude-*', 'claude-sonnet'), ['sonnet']);
    assert.deepEqual(captures('*-*', 'a-b-c'), ['a', 'b-c']);
    assert.deepEqual(captures('*', ''), ['']);
    assert.deepEqual(captures('a*a', 'aa'), ['']);
    assert.equal(captures('a*a', 'a'), null);
    assert.equal(captures('*.*', 'ab'), null);
    assert.equal(captures('a*', 'b'), null);
    assert.deepEqual(captures('plain', 'plain'), []);
    assert.equal(captures('plain', 'plainer'), null);
  });

  it('matches exactly what the regular expression matches, and rebuilds the id', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 8 });
    const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '.', '*'), maxLength: 6 });
    fc.assert(
      fc.property(pattern, text, (name, id) => {
        const literals = name.split('*');
        const expression = new RegExp(`^${literals.map((part) => part.replaceAll('.', '\\.')).join('.*')}$`);
        const captured = captures(name, id);
        assert.equal(captured !== null, expression.test(id));
        if (captured === null) return;
        const again = literals.map((literal, index) => literal + (captured[index] ?? '')).join('');
        assert.equal(again, id);
      }),
      { numRuns: 2_000 },
    );
  });

  it('takes linear time even for an adversarial id', () => {
    const captured = withinCpu(1_000, 'matching', () => captures('*a*a*a*ab', 'a'.repeat(100_000)));
    assert.equal(captured, null);
  });
});

describe('aliases', () => {
  it('fill the stars of the target in order', () => {
    const { pattern } = aliasesOf({ 'claude-*-*': 'openrouter/anthropic/claude-*.*', 'x*': 'fixed' });
    assert.equal(pattern('claude-opus-4')?.target, 'openrouter/anthropic/claude-opus.4');
    assert.equal(pattern('xyz')?.target, 'fixed');
    assert.equal(pattern('nothing'), null);
  });

  it('prefer the most specific pattern, whatever the order of their creation', () => {
    for (const records of [
      { '*': 'all', 'gpt-*': 'gpt', 'gpt-5*': 'five' },
      { 'gpt-5*': 'five', 'gpt-*': 'gpt', '*': 'all' },
    ]) {
      const { exact, pattern } = aliasesOf(records);
      assert.deepEqual(
        ['gpt-5-mini', 'gpt-4', 'other'].map((id) => pattern(id)?.target),
        ['five', 'gpt', 'all'],
      );
      assert.equal(exact('gpt-*'), null, 'a pattern is no name');
    }
  });
});
