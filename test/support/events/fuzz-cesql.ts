import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMap, isScalar, isSeq, parseDocument } from 'yaml';
import {
  type CompiledExpression,
  compile,
  createFilterIndex,
  parse,
  print,
} from '../../../src/events/cesql/cesql.ts';
import type { Fuzz } from '../formats/fuzz.ts';
import { type Chance, chanceOf, oneOf } from '../formats/mutate.ts';
import { withoutPlaces } from './cesql.ts';

const folder = join(import.meta.dirname, '../../conformance/cesql-tck');

/** Pieces of expressions, right ones and wrong ones. */
const pieces: readonly string[] = [
  'AND',
  'OR',
  'XOR',
  'NOT',
  'LIKE',
  'EXISTS',
  'IN',
  'TRUE',
  'false',
  'and',
  'not',
  'in',
  'Like',
  '(',
  ')',
  ',',
  '*',
  '/',
  '%',
  '+',
  '-',
  '=',
  '!=',
  '<>',
  '<',
  '<=',
  '>',
  '>=',
  '==',
  '!',
  '&&',
  'id',
  'type',
  'SOURCE',
  'a',
  'hop',
  'b1',
  '1a',
  'missing',
  'data',
  'constructor',
  'my_ext',
  'in1',
  '0',
  '1',
  '-1',
  '+5',
  '007',
  '2147483647',
  '-2147483648',
  '2147483648',
  '99999999999999999999',
  "''",
  "'a'",
  '"a"',
  "'5'",
  "'true'",
  "'%'",
  "'a%_'",
  "'\\%'",
  "'it''s'",
  "'\\\\'",
  "'",
  '"',
  "'😀'",
  '\\',
  'LENGTH(',
  'CONCAT(',
  'CONCAT_WS(',
  'LEFT(',
  'SUBSTRING(',
  'ABS(',
  'INT(',
  'BOOL(',
  'UPPER(',
  'NOPE(',
  ' ',
  '\t',
  '\n',
  '\r\n',
  '\u00a0',
  '\0',
  '\ud800',
  'é',
  '_',
  '.',
  ';',
  '--',
  '/*',
  '$',
  '`',
];

const attributeValues: readonly unknown[] = [
  '',
  'a',
  'ab',
  '5',
  '05',
  '-1',
  'true',
  'FALSE',
  '😀',
  '\ud83d',
  '%',
  'x'.repeat(300),
  '\u0085 a ',
  0,
  1,
  -1,
  5,
  2147483647,
  -2147483648,
  1.5,
  Number.NaN,
  true,
  false,
  null,
  undefined,
  [],
  {},
  7n,
];

/** The expressions of the conformance tests. */
function corpus(): string[] {
  return globSync('*.yaml', { cwd: folder })
    .sort()
    .flatMap((file) => {
      const tests = parseDocument(readFileSync(join(folder, file), 'utf8')).get('tests');
      assert.ok(isSeq(tests), file);
      return tests.items.flatMap((item) => {
        const node = isMap(item) ? item.get('expression', true) : null;
        return isScalar(node) ? [typeof node.value === 'string' ? node.value : String(node.source)] : [];
      });
    });
}

/**
 * Damaged and random expressions: nothing may be thrown; what parses is printed and read back, evaluated for a random event
 * in both modes and twice, and looked for in an index.
 */
export function cesqlFuzz(): Fuzz {
  const known = corpus();
  assert.equal(known.length, 275);
  const input = (seed: number): string => {
    const chance = chanceOf(seed);
    return chance(3) === 0 ? soup(chance) : damaged(oneOf(chance, known), known, chance);
  };
  return {
    input,
    run(seed) {
      const text = input(seed);
      const compiled = compile(text);
      if (!compiled.ok) {
        const { kind, position } = compiled.error;
        assert.equal(kind, 'parse');
        assert.ok(position.offset >= 0 && position.offset <= text.length && position.end <= text.length);
        return 'refused';
      }
      checkPrint(compiled.expression);
      return checkEvaluation(compiled.expression, eventOf(chanceOf(seed + 1)));
    },
  };
}

function soup(chance: Chance): string {
  const count = 1 + chance(chance(20) === 0 ? 400 : 16);
  const separator = chance(4) === 0 ? '' : ' ';
  return Array.from({ length: count }, () => oneOf(chance, pieces)).join(separator);
}

/** An expression with pieces inserted, removed, repeated, wrapped, or with a part of another one. */
function damaged(original: string, spare: readonly string[], chance: Chance): string {
  let text = original;
  for (let times = 1 + chance(4); times > 0; times -= 1) {
    const from = chance(text.length + 1);
    const to = Math.min(text.length, from + chance(6));
    const kind = chance(7);
    if (kind === 0) text = `${text.slice(0, from)}${text.slice(to)}`;
    else if (kind === 1) text = `${text.slice(0, from)}${oneOf(chance, pieces)}${text.slice(from)}`;
    else if (kind === 2) text = `${text.slice(0, from)} ${oneOf(chance, pieces)} ${text.slice(to)}`;
    else if (kind === 3)
      text = `(${text}) ${oneOf(chance, ['AND', 'OR', '=', '+', 'IN', 'LIKE'])} (${oneOf(chance, spare)})`;
    else if (kind === 4) text = `${oneOf(chance, ['NOT ', '-', 'NOT (', 'LENGTH('])}${text}`;
    else if (kind === 5) text = text.slice(0, from).repeat(1 + chance(3)) + text.slice(from);
    else text = text.replace(/\b[a-z]+\b/, oneOf(chance, ['id', 'hop', 'a', 'b1', 'missing']));
  }
  return text;
}

function eventOf(chance: Chance): Record<string, unknown> {
  const event: Record<string, unknown> = { specversion: '1.0', id: 'a', source: '/ab', type: 'a.b' };
  for (const name of ['id', 'type', 'a', 'hop', 'b1', 'subject'])
    if (chance(2) === 0) event[name] = oneOf(chance, attributeValues);
  return event;
}

function checkPrint({ syntax }: CompiledExpression): void {
  const text = print(syntax);
  const parsed = parse(text, { maxLength: 10 * text.length });
  assert.ok(parsed.ok, text);
  assert.deepEqual(withoutPlaces(parsed.expression), withoutPlaces(syntax));
}

function checkEvaluation(expression: CompiledExpression, event: Record<string, unknown>): string {
  const { errors, value } = expression.evaluate(event);
  const failFast = expression.evaluate(event, 'fail-fast');
  const passes = errors.length === 0 && value === true;
  assert.deepEqual(expression.evaluate(event), { errors, value });
  assert.deepEqual(failFast.errors, errors.slice(0, 1));
  assert.equal(expression.matches(event), passes);
  assert.equal(createFilterIndex([{ key: 0, expression }]).match(event).length, passes ? 1 : 0);
  return errors[0]?.kind ?? (passes ? 'passes' : 'value');
}
