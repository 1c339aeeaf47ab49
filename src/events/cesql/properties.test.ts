import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { events, expressions, filterExpressions, withoutPlaces } from '../../../test/support/events/cesql.ts';
import { fc } from '../../../test/support/machine/properties.ts';
import { compile, createFilterIndex, type Expression, parse, print } from './cesql.ts';
import { compilePattern } from './like.ts';
import { zeroValues } from './value.ts';

function compiled(text: string) {
  const result = compile(text);
  assert.ok(result.ok, result.ok ? '' : `${text}: ${result.error.message}`);
  return result.expression;
}

/** LIKE, the slow way: every end of every run is tried. */
function naiveLike(text: readonly string[], pattern: readonly string[]): boolean {
  const memo = new Map<string, boolean>();
  const fits = (from: number, at: number): boolean => {
    const key = `${from} ${at}`;
    const answer = memo.get(key) ?? step(from, at);
    memo.set(key, answer);
    return answer;
  };
  const step = (from: number, at: number): boolean => {
    const wanted = pattern[at];
    if (wanted === undefined) return from === text.length;
    if (wanted === '%') return fits(from, at + 1) || (from < text.length && fits(from + 1, at));
    if (from >= text.length) return false;
    if (wanted === '_') return fits(from + 1, at + 1);
    const escaped = wanted === '\\' && (pattern[at + 1] === '%' || pattern[at + 1] === '_');
    const literal = escaped ? pattern[at + 1] : wanted;
    return text[from] === literal && fits(from + 1, at + (escaped ? 2 : 1));
  };
  return fits(0, 0);
}

describe('CESQL, whatever the expression', () => {
  it('parses what it prints to the same expression', () => {
    fc.assert(
      fc.property(expressions, (expression) => {
        const text = print(expression);
        const parsed = parse(text);
        assert.ok(parsed.ok, text);
        assert.deepEqual(withoutPlaces(parsed.expression), withoutPlaces(expression), text);
        assert.equal(print(parsed.expression), text);
      }),
      { numRuns: 1_500 },
    );
  });

  it('never throws, has a value of its type, and the same value every time', () => {
    fc.assert(
      fc.property(expressions, events, (syntax, event) => {
        const expression = compiled(print(syntax));
        const { errors, value } = expression.evaluate(event);
        const again = compiled(expression.text).evaluate(event);
        assert.deepEqual(again, { value, errors });
        if (expression.type !== null) assert.equal(typeof value, typeof zeroValues[expression.type]);
        if (typeof value === 'number') assert.equal(value | 0, value);
        assert.equal(expression.matches(event), errors.length === 0 && value === true);
        const failFast = expression.evaluate(event, 'fail-fast');
        assert.deepEqual(failFast.errors, errors.slice(0, 1));
        if (errors.length === 0) assert.equal(failFast.value, value);
      }),
      { numRuns: 1_500 },
    );
  });

  it('matches patterns as a naive search does', () => {
    const unit = fc.constantFrom('a', 'b', 'é', '😀', '\\', '%', '_', '\ud83d', '\ude00', '\n');
    const pattern = fc.array(fc.constantFrom('a', 'b', '%', '%', '_', '\\', '😀', '\ud83d', '\ude00'), {
      maxLength: 9,
    });
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 9 }), pattern, (text, marks) => {
        const joined = marks.join('');
        // Pairs that came together are one character.
        const expected = naiveLike([...text.join('')], [...joined]);
        assert.equal(
          compilePattern(joined)(text.join('')),
          expected,
          JSON.stringify([text.join(''), joined]),
        );
      }),
      { numRuns: 3_000 },
    );
  });

  it('matches long patterns as a naive search does', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '😀'), minLength: 20, maxLength: 120 });
    const piece = fc.string({ unit: fc.constantFrom('a', 'a', 'a', '_'), minLength: 33, maxLength: 70 });
    fc.assert(
      fc.property(text, piece, fc.constantFrom('a', 'b', 'aaab'), (around, middle, end) => {
        const whole = `${around}${'a'.repeat(80)}${end}${around}`;
        const pattern = `%${middle}${end}%`;
        assert.equal(compilePattern(pattern)(whole), naiveLike([...whole], [...pattern]), pattern);
      }),
      { numRuns: 300 },
    );
  });
});

describe('many CESQL filters together', () => {
  const filters = fc.array(filterExpressions, { maxLength: 25 });
  const check = (list: readonly Expression[], event: Record<string, unknown>) => {
    const all = list.map((syntax, key) => ({ key, expression: compiled(print(syntax)) }));
    const expected = all.filter(({ expression }) => expression.matches(event)).map(({ key }) => key);
    assert.deepEqual(createFilterIndex(all).match(event), expected, list.map(print).join('\n'));
  };

  it('choose what each of them alone would choose', () => {
    fc.assert(fc.property(filters, events, check), { numRuns: 1_000 });
  });

  it('do so for filters of any kind', () => {
    fc.assert(fc.property(fc.array(expressions, { maxLength: 8 }), events, check), { numRuns: 700 });
  });
});
