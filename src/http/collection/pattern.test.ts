import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withinCpu } from '../../../test/support/machine/cpu.ts';
import { fc } from '../../../test/support/machine/properties.ts';
import { GatewayError } from '../../lib/error.ts';
import { compilePattern, isIn } from './pattern.ts';

const plenty = 50_000_000;

function matches(source: string, text: string, ignoreCase = false): boolean {
  return isIn(compilePattern(source, ignoreCase), text, { steps: plenty });
}

describe('a pattern', () => {
  const cases: readonly [source: string, yes: string[], no: string[]][] = [
    ['', ['', 'a'], []],
    ['abc', ['abc', 'xabcx'], ['ab', 'acb']],
    ['^a.c$', ['abc', 'a.c', 'a😀c'], ['ac', 'xabc', 'a\nc']],
    ['^(?:a|bc)+$', ['a', 'bc', 'abca'], ['', 'b', 'ab']],
    ['^a{2}$', ['aa'], ['a', 'aaa']],
    ['^a{2,}$', ['aa', 'aaaa'], ['a']],
    ['^a{0,2}?b$', ['b', 'aab'], ['aaab']],
    ['^[a-c\\d_-]+$', ['abc', '0-_9'], ['d', '']],
    ['^[^\\s]$', ['x'], [' ', '\t', 'xy']],
    ['^\\w+@\\w+\\.com$', ['me@x.com'], ['me@xcom']],
    ['\\t|\\/', ['a\tb', 'a/b'], ['t']],
    ['^(a*)*$', ['', 'aaa'], ['b']],
    ['^[\\]\\\\]$', [']', '\\'], ['a']],
  ];
  for (const [source, yes, no] of cases) {
    it(`matches as /${source}/ does`, () => {
      for (const text of yes) assert.ok(matches(source, text), `in ${JSON.stringify(text)}`);
      for (const text of no) assert.ok(!matches(source, text), `not in ${JSON.stringify(text)}`);
    });
  }

  it('ignores case if asked to, also in classes', () => {
    assert.ok(matches('^aB[c-d]é$', 'AbDÉ', true));
    assert.ok(!matches('[^a]', 'A', true));
    assert.ok(!matches('a', 'A'));
  });

  it('matches what the same pattern of JavaScript matches', () => {
    const leaf = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '\\d', '\\W', '^', '$', '1');
    const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
      pattern: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.tuple(tie('pattern'), tie('pattern')).map(([one, other]) => one + other),
        fc.tuple(tie('pattern'), tie('pattern')).map(([one, other]) => `(${one}|${other})`),
        fc
          .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '{2}', '{1,3}', '{0}', '{1,}', '*?'))
          .map(([one, bounds]) => `(?:${one})${bounds}`),
      ),
    }));
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'A', '1', ' ', '\n'), maxLength: 8 });
    fc.assert(
      fc.property(pattern, text, fc.boolean(), (source, sample, ignoreCase) => {
        const expected = new RegExp(source, ignoreCase ? 'i' : '').test(sample);
        assert.equal(matches(source, sample, ignoreCase), expected);
      }),
      { numRuns: 2_000 },
    );
  });

  it('takes time that grows no faster than the text', () => {
    const text = `${'a'.repeat(5_000)}!`;
    for (const source of ['^(a+)+$', '^(a|a)*$', '^(a|aa)+$', 'a*a*a*a*a*a*b', '(.*)*x'])
      assert.ok(withinCpu(1_000, source, () => !matches(source, text)));
  });

  it('stops when the step budget of the query is used up', () => {
    const pattern = compilePattern('(.*){50}x', false);
    assert.throws(() => isIn(pattern, 'a'.repeat(10_000), { steps: 10_000 }), isRefusal);
  });

  /** Milliseconds of CPU that a thousand steps of a pattern take. */
  const costOfSteps = (source: string, ignoreCase: boolean): number => {
    const pattern = compilePattern(source, ignoreCase);
    const costs = Array.from({ length: 5 }, () => {
      const budget = { steps: 200_000 };
      const begun = process.cpuUsage();
      assert.throws(() => {
        for (;;) isIn(pattern, 'a'.repeat(100), budget);
      }, isRefusal);
      const { system, user } = process.cpuUsage(begun);
      return (system + user) / 1000 / 200;
    });
    return Math.min(...costs);
  };

  it('counts steps in proportion to the time that they take', () => {
    const plain = costOfSteps('b', false);
    const costly: readonly string[] = [
      `[${'q'.repeat(238)}]{1}`,
      `[${Array.from({ length: 119 }, (_, index) => String.fromCodePoint(0x400 + 2 * index)).join('')}]{1}`,
      `[${'\\D'.repeat(100)}]{200}b`,
      '(a*)*(a*)*(a*)*(a*)*b',
      '(?:a?){300}',
      '(?:^|$|b){150}c',
    ];
    for (const source of costly) {
      const each = costOfSteps(source, true);
      assert.ok(
        each < plain * 20,
        `/${source.slice(0, 20)}/i: ${each / plain} times as much as a plain step`,
      );
    }
  });

  const refused = [
    '(',
    ')',
    'a**',
    '*',
    '(?=a)',
    '(?<=a)',
    '(?<n>a)',
    '\\1',
    '\\b',
    'a{2,1}',
    'a{',
    '[',
    '[b-a]',
    '\\',
  ];
  const large = ['((a{1000}){1000}){1000}', 'a{5000}', 'x'.repeat(300), '('.repeat(200)];
  for (const source of [...refused, ...large]) {
    it(`is refused: ${source.slice(0, 30)}`, () =>
      assert.throws(() => compilePattern(source, false), isRefusal));
  }

  it('may match the empty text many times without taking long', () => {
    assert.ok(matches('(((((){1000}){1000}){1000}){1000}){1000}', ''));
  });
});

function isRefusal(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'invalid_request';
}
