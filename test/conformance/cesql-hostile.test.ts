import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compile, createFilterIndex } from '../../src/events/cesql/cesql.ts';
import { cesqlFuzz } from '../support/events/fuzz-cesql.ts';
import { withinCpu } from '../support/machine/cpu.ts';

const base = { specversion: '1.0', id: '1', source: '/s', type: 't' };

describe('CESQL and hostile expressions', () => {
  it('survives damaged and random ones', () => {
    const { input, run } = cesqlFuzz();
    const results = new Set<string>();
    for (let seed = 1; seed <= 20_000; seed += 1) {
      try {
        results.add(run(seed));
      } catch (error) {
        throw new Error(`seed ${seed}: ${JSON.stringify(input(seed))}`, { cause: error });
      }
    }
    for (const result of [
      'refused',
      'passes',
      'value',
      'cast',
      'math',
      'missingAttribute',
      'missingFunction',
    ])
      assert.ok(results.has(result), `nothing was ${result}`);
  });

  /** Each is made for a size in characters of the expression, and of the attribute `a`. */
  const hostile: Readonly<Record<string, (size: number) => { text: string; a: string }>> = {
    'runs that almost fit': (size) => ({
      text: `a LIKE '${'%a'.repeat(size / 2)}%b'`,
      a: 'a'.repeat(4 * size),
    }),
    'a long piece that almost fits': (size) => ({
      text: `a LIKE '%${'a'.repeat(size - 20)}b%'`,
      a: 'a'.repeat(4 * size),
    }),
    'a long piece of single characters': (size) => ({
      text: `a LIKE '%${'a_'.repeat(size / 2 - 10)}b%'`,
      a: 'a'.repeat(4 * size),
    }),
    'many short pieces': (size) => ({
      text: `a LIKE '%${'aaaaaaab%'.repeat(size / 10)}'`,
      a: 'aaaaaaa'.repeat(size / 2),
    }),
    'open parentheses': (size) => ({ text: '('.repeat(size), a: '' }),
    negations: (size) => ({ text: `${'-'.repeat(size)}1`, a: '' }),
    sums: (size) => ({ text: `1${'+1'.repeat(size / 2)}`, a: '' }),
    'a chain of OR': (size) => ({ text: `${"a='x'OR ".repeat(size / 8 - 2)}a='y'`, a: 'a'.repeat(size) }),
    'a large set': (size) => ({ text: `a IN (${"'x',".repeat(size / 4 - 4)}'y')`, a: 'x' }),
    'errors everywhere': (size) => ({ text: `${'1/0=1 XOR '.repeat(size / 10 - 1)}TRUE`, a: '' }),
    'white space': (size) => ({ text: `a${' '.repeat(size - 10)}= 'x'`, a: 'x' }),
    backslashes: (size) => ({ text: `a LIKE '${'\\'.repeat(size - 12)}%'`, a: '\\'.repeat(size) }),
    'texts that grow': (size) => ({
      text: `LENGTH(CONCAT(${'a,'.repeat(size / 2 - 20)}a))`,
      a: 'x'.repeat(size),
    }),
    digits: (size) => ({ text: `a = ${'0'.repeat(size - 10)}7`, a: '0'.repeat(4 * size) }),
  };
  for (const [name, make] of Object.entries(hostile)) {
    it(`takes linear time for ${name}`, () => {
      for (const size of [4_000, 16_000]) {
        const { a, text } = make(size);
        withinCpu(size / 50, `${name} of ${size} characters`, () => {
          const compiled = compile(text);
          if (!compiled.ok) return;
          compiled.expression.evaluate({ ...base, a });
          compiled.expression.matches({ ...base, a });
          createFilterIndex([{ key: 0, expression: compiled.expression }]).match({ ...base, a });
        });
      }
    });
  }
});
