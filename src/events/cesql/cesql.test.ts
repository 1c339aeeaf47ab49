import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type CesqlEvent,
  type CompileOptions,
  compile,
  type ErrorKind,
  functionsWith,
  type Value,
} from './cesql.ts';

const event = {
  specversion: '1.0',
  id: 'myId',
  source: 'http://localhost/source',
  type: 'com.example.made',
  hop: '5',
  ttl: 10,
  urgent: true,
  empty: '',
};

function compiled(text: string, options?: CompileOptions) {
  const result = compile(text, options);
  assert.ok(result.ok, result.ok ? '' : `${text}: ${result.error.message}`);
  return result.expression;
}

function outcome(text: string, on: CesqlEvent = event): [Value, ...ErrorKind[]] {
  const { errors, value } = compiled(text).evaluate(on);
  return [value, ...errors.map(({ kind }) => kind)];
}

function parseError(text: string, options?: CompileOptions) {
  const result = compile(text, options);
  assert.ok(!result.ok, `${text} was parsed`);
  assert.equal(result.error.kind, 'parse');
  return result.error;
}

/** What the specification leaves open, decided; docs/cesql.md explains each. */
const decisions: readonly [about: string, expression: string, ...outcome: [Value, ...ErrorKind[]]][] = [
  ['AND, OR and XOR bind to the right', 'FALSE AND FALSE OR TRUE', false],
  ['AND, OR and XOR bind to the right', 'TRUE OR FALSE AND FALSE', true],
  ['AND, OR and XOR bind to the right', 'TRUE XOR TRUE OR TRUE', false],
  ['NOT binds tighter than comparisons', "NOT id = 'x'", false, 'cast'],
  ['NOT binds tighter than LIKE', "NOT type LIKE 'a%'", false, 'cast'],
  ['NOT before EXISTS', 'NOT EXISTS nothing', true],
  ['a sign behind an operand is an operator', '4-1', 3],
  ['a sign behind an operand is an operator', '4 -1', 3],
  ['a sign behind an operand is an operator', 'ttl-1', 9],
  ['a sign before digits is part of the number', '-2147483648', -2147483648],
  ['a sign before digits is part of the number', '4 - -1 + +2', 7],
  ['a doubled quote is two quotes', "'it''s'", "it''s"],
  ['a doubled quote is two quotes', '"a""b"', 'a""b'],
  ['only the own quote is escaped', "'a\\\"b\\'c\\\\d'", 'a\\"b\'c\\\\d'],
  ['characters are code points', "LENGTH('é😀')", 2],
  ['characters are code points', "LEFT('😀é😀', 2)", '😀é'],
  ['characters are code points', "RIGHT('😀é😀', 2)", 'é😀'],
  ['characters are code points', "SUBSTRING('a😀b', -2, 1)", '😀'],
  ['characters are code points', "'😀' LIKE '_'", true],
  ['integers wrap around', '2147483647 + 1', -2147483648],
  ['integers wrap around', '-2147483648 - 1', 2147483647],
  ['integers wrap around', '65536 * 65537', 65536],
  ['integers wrap around', '-2147483648 / -1', -2147483648],
  ['integers wrap around', '-(-2147483648)', -2147483648],
  ['the remainder has the sign of the left operand', '-5 % 3', -2],
  ['division rounds to zero', '-5 / 3', -1],
  ['a star is a star', "'ab' LIKE '_b*'", false],
  ['a percent sign matches line ends', "'a\nb' LIKE 'a%b'", true],
  ['names of attributes are read in lower case', 'EXISTS SOURCE AND Id = "myId"', true],
  ['an element that fails makes IN fail', "id IN (missing, 'myId')", false, 'missingAttribute'],
  ['an element behind the equal one is not read', "id IN ('myId', missing)", true],
  ['elements are cast to the left operand', "1 IN ('x', 1)", false, 'cast'],
  ['a negative length', "SUBSTRING('abc', 1, -1)", '', 'functionEvaluation'],
  ['Unicode white space is trimmed', "TRIM('\u0085\u2003 a \u3000')", 'a'],
  ['U+FEFF is no white space', "LENGTH(TRIM('\ufeffa'))", 2],
  ['upper case may be longer', "UPPER('straße')", 'STRASSE'],
  ['unknown functions are false', "NOPE('x')", false, 'missingFunction'],
  ['no overload for so many arguments', "LEFT('x')", false, 'missingFunction'],
  ['the data is no attribute', 'EXISTS data', false],
  ['an operand that fails makes the operator fail', "missing = 'x' OR TRUE", false, 'missingAttribute'],
  ['an operand that fails makes the operator fail', 'NOT (missing = 1)', false, 'missingAttribute'],
  ['an operand that fails makes the operator fail', "missing NOT LIKE 'x'", false, 'missingAttribute'],
  ['all errors are told', '1 / 0 + missing', 0, 'math', 'missingAttribute'],
  ['all errors are told', "absent IN (missing, 'a')", false, 'missingAttribute', 'missingAttribute'],
  ['all errors are told', 'missing OR absent', false, 'missingAttribute', 'missingAttribute'],
  ['AND stops at what fails', 'missing AND absent', false, 'missingAttribute'],
  ['a function that fails has its value', "LEFT('abc', -1)", 'abc', 'functionEvaluation'],
  ['behind that, nothing is computed', "LENGTH(LEFT('abc', -1))", 0, 'functionEvaluation'],
  ['the right operand decides the type', "urgent = 'TRUE'", false],
  ['the right operand decides the type', "'TRUE' = urgent", true],
  ['texts become integers', 'hop < ttl', true],
  ['an empty text is there', "EXISTS empty AND empty = ''", true],
  ['order is for integers alone', "'a' < 'b'", false, 'cast', 'cast'],
  ['a chain of comparisons goes from left to right', '3 > 2 = TRUE', true],
  ['LIKE binds tighter than IN', "'a' IN ('b') LIKE 'f%'", true],
];

describe('CESQL', () => {
  for (const [about, expression, ...expected] of decisions) {
    it(`${about}: ${JSON.stringify(expression)}`, () => assert.deepEqual(outcome(expression), expected));
  }

  it('stops at the first error in fail-fast mode, with the zero value of the type', () => {
    const failFast = (text: string) => compiled(text).evaluate(event, 'fail-fast');
    const { errors, value } = failFast('1 / 0 + missing');
    assert.equal(value, 0);
    assert.deepEqual(
      errors.map(({ kind }) => kind),
      ['math'],
    );
    assert.equal(failFast("LEFT('abc', -1)").value, '');
    assert.equal(failFast('missing').value, false);
  });

  it('names the place of an error', () => {
    const { errors } = compiled("EXISTS id\n  AND 'x' < 5").evaluate(event);
    assert.deepEqual(errors[0]?.position, { offset: 16, end: 19, line: 2, column: 7 });
  });

  it('passes a filter only for the Boolean true without an error', () => {
    assert.equal(compiled('urgent').matches(event), true);
    assert.equal(compiled("'true'").matches(event), false);
    assert.equal(compiled('1').matches(event), false);
    assert.equal(compiled("missing = 'x' OR TRUE").matches(event), false);
    assert.equal(compiled("TRUE OR missing = 'x'").matches(event), true);
  });

  it('reads attributes of other types as their texts', () => {
    const on = {
      ...event,
      time: new Date(0),
      site: new URL('http://localhost/a b'),
      bytes: Uint8Array.of(1, 2, 255),
      half: 1.5,
      big: 2 ** 31,
      huge: 12n,
      none: null,
      list: ['a'],
      never: new Date(Number.NaN),
    };
    assert.deepEqual(outcome("time = '1970-01-01T00:00:00.000Z'", on), [true]);
    assert.deepEqual(outcome('site', on), ['http://localhost/a%20b']);
    assert.deepEqual(outcome('bytes', on), ['AQL/']);
    assert.deepEqual(outcome('half', on), ['1.5']);
    assert.deepEqual(outcome('big', on), ['2147483648']);
    assert.deepEqual(outcome('huge + 1', on), [13]);
    for (const name of ['none', 'list', 'never', 'constructor', 'valueof'])
      assert.deepEqual(outcome(name, on), [false, 'missingAttribute']);
  });

  it('reads attributes through a function', () => {
    const asked: string[] = [];
    const on = (name: string) => {
      asked.push(name);
      return name === 'type' ? 'a' : undefined;
    };
    assert.deepEqual(outcome("type = 'a' AND NOT EXISTS other", on), [true]);
    assert.deepEqual(asked, ['type', 'other']);
  });

  it('tells attributes and type', () => {
    const { attributes, type } = compiled("type = 'x' AND (EXISTS B OR LENGTH(a) > hop)");
    assert.deepEqual(attributes, ['a', 'b', 'hop', 'type']);
    assert.equal(type, 'Boolean');
    assert.equal(compiled('type').type, null);
    assert.equal(compiled('1 + 1').type, 'Integer');
    assert.equal(compiled('LOWER(type)').type, 'String');
  });
});

describe('CESQL parse errors', () => {
  const refused: readonly [expression: string, column: number, message: RegExp][] = [
    ['', 1, /found the end/],
    ['type =', 7, /found the end/],
    ["type == 'a'", 7, /single =/],
    ["type = 'a' && TRUE", 12, /Write AND/],
    ["type = 'a", 8, /closing '/],
    ['x LIKE 123', 8, /text in quotes, not "123"/],
    ['id IN ()', 8, /at least one/],
    ['id IN (1, 2', 12, /Expected \) or , in the set of IN, found the end/],
    ['(id', 4, /match the \( in column 1/],
    ['id)', 3, /closes nothing/],
    ['ABC(', 5, /found the end/],
    ['ABC1(2)', 1, /digits/],
    ['my_ext = 1', 1, /letters and digits/],
    ['in = 1', 1, /found "in"/],
    ['EXISTS and', 8, /EXISTS takes the name/],
    ['EXISTS id AND in = 1', 15, /found "in"/],
    ['2147483648', 1, /does not fit/],
    ['-2147483649', 1, /does not fit/],
    ['id IS NULL', 4, /EXISTS/],
    ['EXIST subject', 7, /mean EXISTS/],
    ["type LKIE 'a%'", 6, /mean LIKE/],
    ['urgent nad hop = 1', 8, /mean AND/],
    ['a.b', 2, /no fields/],
    ['id NOT = 1', 4, /Expected an operator/],
    ['*', 1, /one by one/],
    ['id = "a" OR\n  foo bar', 7, /Expected an operator or the end, found "bar"/],
  ];
  for (const [expression, column, message] of refused) {
    it(`refuses ${JSON.stringify(expression)}`, () => {
      const error = parseError(expression);
      assert.match(error.message, message);
      assert.equal(error.position.column, column);
    });
  }

  it('bounds the length', () => {
    assert.match(parseError(`'${'a'.repeat(20_000)}'`).message, /too long/);
    assert.match(parseError('TRUE', { maxLength: 3 }).message, /too long: 4 of 3/);
  });

  it('bounds the depth, and names the place', () => {
    const deep: readonly string[] = [
      `${'('.repeat(8_000)}1${')'.repeat(8_000)}`,
      '('.repeat(16_000),
      `${'NOT '.repeat(4_000)}TRUE`,
      `${'-'.repeat(16_000)}1`,
      `1${' + 1'.repeat(4_000)}`,
      `1${' = 1'.repeat(4_000)}`,
      `1${" LIKE ''".repeat(2_000)}`,
      `${'ABS('.repeat(3_000)}1${')'.repeat(3_000)}`,
      `${'1 IN ('.repeat(2_000)}1${')'.repeat(2_000)}`,
    ];
    for (const text of deep) assert.match(parseError(text).message, /nested too deeply/, text.slice(0, 20));
    assert.match(parseError('((1))', { maxDepth: 1 }).message, /1 level/);
  });

  it('takes long chains of AND and OR', () => {
    const text = `${"id = 'a' OR ".repeat(1_200)}id = 'myId'`;
    assert.equal(compiled(text).matches(event), true);
  });
});

describe('CESQL functions of the caller', () => {
  const twice = {
    name: 'Twice',
    parameters: ['Integer'],
    returns: 'Integer',
    run: ([value]: readonly Value[]) => Number(value) * 2,
  } as const;

  it('are called by name, without regard to case, with cast arguments', () => {
    assert.equal(compiled("twice('4')", { functions: functionsWith([twice]) }).evaluate(event).value, 8);
  });

  it('fail with an error when they throw, or return what they should not', () => {
    const run = (result: () => unknown) => {
      const functions = functionsWith([
        { name: 'f', parameters: [], returns: 'Integer', run: () => result() as Value },
      ]);
      const { errors, value } = compiled('F()', { functions }).evaluate(event);
      return [value, errors[0]?.kind];
    };
    const failed = [0, 'functionEvaluation'];
    assert.deepEqual(
      run(() => {
        throw new Error('broken');
      }),
      failed,
    );
    assert.deepEqual(
      run(() => 'text'),
      failed,
    );
    assert.deepEqual(
      run(() => 2 ** 40),
      failed,
    );
    assert.deepEqual(
      run(() => undefined),
      failed,
    );
    assert.deepEqual(
      run(() => ({ error: 'odd', value: 7 })),
      [7, 'functionEvaluation'],
    );
    assert.deepEqual(
      run(() => ({ error: 'odd', value: 'text', kind: 'math' })),
      [0, 'math'],
    );
  });

  it('are refused when they cannot be told apart', () => {
    const define = (name: string, count: number, variadic: boolean) => ({
      ...twice,
      name,
      parameters: new Array<'String'>(count).fill('String'),
      ...(variadic ? { variadic: 'String' as const } : {}),
    });
    const bad = [
      [define('f', 1, false), define('F', 1, false)],
      [define('f', 3, false), define('f', 3, true)],
      [define('f', 0, true), define('f', 1, true)],
      [define('abs', 1, false)],
      [define('f2', 1, false)],
    ];
    for (const functions of bad) assert.throws(() => functionsWith(functions), TypeError);
    assert.ok(functionsWith([define('f', 3, true), define('f', 2, false)]).find('F', 9));
  });

  it('cannot use up the memory with texts', () => {
    const on = { ...event, long: 'x'.repeat(60_000) };
    const { errors } = compiled(`CONCAT(${'long, '.repeat(2_000)}long)`).evaluate(on);
    assert.match(errors[0]?.message ?? '', /262144 at most/);
  });
});
