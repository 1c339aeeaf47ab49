import type { Expression } from '../../../src/events/cesql/cesql.ts';
import { fc } from '../machine/properties.ts';

/** Random expressions and events of CESQL, over few names and texts, so that they often meet. */

const attributeNames = ['id', 'type', 'source', 'a', 'b1', 'hop'];
const texts = [
  '',
  'a',
  'ab',
  'abc',
  'b',
  '5',
  '05',
  '-1',
  'true',
  'FALSE',
  '😀',
  'a%b',
  "it's",
  '"',
  '\\',
  'é_',
];
const at = { start: 0, end: 0 };

/** A text that a literal can say: an odd backslash before a quote or the end cannot be written. */
const literalText = fc.oneof(
  fc.constantFrom(...texts.filter((text) => !text.endsWith('\\'))),
  fc.string({ unit: fc.constantFrom('a', 'b', '%', '_', 'é', '😀', ' ', '\n') }),
  fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\\', '/')),
);
const patterns = fc.oneof(
  literalText,
  fc.string({ unit: fc.constantFrom('a', 'b', '%', '_', '\\%', '\\_', '😀'), maxLength: 8 }),
);
const name = fc.constantFrom(...attributeNames);
const integer = fc.oneof(
  fc.integer({ min: -3, max: 6 }),
  fc.constantFrom(-2147483648, 2147483647),
  fc.integer(),
);
const functionNames = [
  'LENGTH',
  'CONCAT',
  'CONCAT_WS',
  'LOWER',
  'UPPER',
  'TRIM',
  'LEFT',
  'RIGHT',
  'SUBSTRING',
  'ABS',
  'INT',
  'BOOL',
  'STRING',
  'NOPE',
];

/** No interface: only a type has the index signature that fast-check asks for. */
type Grammar = { expression: Expression };

/** Expressions as the parser makes them, without their places. */
export const expressions: fc.Arbitrary<Expression> = fc.letrec<Grammar>((tie) => {
  const part = tie('expression');
  const leaf: fc.Arbitrary<Expression> = fc.oneof(
    fc.oneof(literalText, integer, fc.boolean()).map((value) => ({ type: 'literal', value, ...at }) as const),
    name.map((attribute) => ({ type: 'attribute', name: attribute, ...at }) as const),
    name.map((attribute) => ({ type: 'exists', name: attribute, ...at }) as const),
  );
  const pair = fc.record({ left: part, right: part });
  const inner: fc.Arbitrary<Expression> = fc.oneof(
    part.map((operand) => ({ type: 'not', operand, ...at }) as const),
    part.map((operand) => ({ type: 'negate', operand, ...at }) as const),
    fc
      .array(fc.tuple(part, fc.constantFrom('AND', 'OR', 'XOR')), { minLength: 2, maxLength: 4 })
      .map((chain) => ({
        type: 'logic' as const,
        operands: chain.map(([operand]) => operand),
        operators: chain.slice(1).map(([, operator]) => operator),
        ...at,
      })),
    fc
      .tuple(pair, fc.constantFrom('=', '!='))
      .map(([sides, operator]) => ({ type: 'equality' as const, operator, ...sides, ...at })),
    fc
      .tuple(pair, fc.constantFrom('<', '<=', '>', '>='))
      .map(([sides, operator]) => ({ type: 'order' as const, operator, ...sides, ...at })),
    fc
      .tuple(pair, fc.constantFrom('*', '/', '%', '+', '-'))
      .map(([sides, operator]) => ({ type: 'arithmetic' as const, operator, ...sides, ...at })),
    fc
      .tuple(part, patterns, fc.boolean())
      .map(([operand, pattern, negated]) => ({ type: 'like' as const, operand, pattern, negated, ...at })),
    fc
      .tuple(part, fc.array(part, { minLength: 1, maxLength: 3 }), fc.boolean())
      .map(([operand, elements, negated]) => ({ type: 'in' as const, operand, elements, negated, ...at })),
    fc
      .tuple(fc.constantFrom(...functionNames), fc.array(part, { maxLength: 3 }))
      .map(([called, args]) => ({ type: 'call' as const, name: called, args, ...at })),
  );
  return { expression: fc.oneof({ maxDepth: 4, depthSize: 'small' }, leaf, inner) };
}).expression;

/** Filters as people write them: comparisons of attributes, joined by AND and OR. */
export const filterExpressions: fc.Arbitrary<Expression> = fc.letrec<Grammar>((tie) => {
  const attribute = name.map((each) => ({ type: 'attribute', name: each, ...at }) as const);
  const literal = fc
    .oneof(literalText, fc.integer({ min: -1, max: 6 }), fc.boolean())
    .map((value) => ({ type: 'literal', value, ...at }) as const);
  const leaf: fc.Arbitrary<Expression> = fc.oneof(
    fc
      .tuple(attribute, literal, fc.constantFrom('=', '!='), fc.boolean())
      .map(([one, other, operator, swapped]) => ({
        type: 'equality' as const,
        operator,
        left: swapped ? other : one,
        right: swapped ? one : other,
        ...at,
      })),
    fc
      .tuple(attribute, patterns, fc.boolean())
      .map(([operand, pattern, negated]) => ({ type: 'like' as const, operand, pattern, negated, ...at })),
    fc
      .tuple(attribute, fc.array(literal, { minLength: 1, maxLength: 3 }), fc.boolean())
      .map(([operand, elements, negated]) => ({ type: 'in' as const, operand, elements, negated, ...at })),
    fc
      .tuple(attribute, literal)
      .map(([left, right]) => ({ type: 'order' as const, operator: '<' as const, left, right, ...at })),
    name.map((each) => ({ type: 'exists', name: each, ...at }) as const),
    attribute,
  );
  const inner: fc.Arbitrary<Expression> = fc.oneof(
    {
      weight: 5,
      arbitrary: fc
        .array(fc.tuple(tie('expression'), fc.constantFrom('AND', 'AND', 'OR', 'XOR')), {
          minLength: 2,
          maxLength: 4,
        })
        .map((chain) => ({
          type: 'logic' as const,
          operands: chain.map(([operand]) => operand),
          operators: chain.slice(1).map(([, operator]) => operator),
          ...at,
        })),
    },
    { weight: 1, arbitrary: tie('expression').map((operand) => ({ type: 'not', operand, ...at }) as const) },
  );
  return { expression: fc.oneof({ maxDepth: 3, depthSize: 'small' }, leaf, inner) };
}).expression;

const attributeValue = fc.oneof(
  fc.constantFrom(...texts),
  literalText,
  fc.integer({ min: -1, max: 6 }),
  fc.boolean(),
  fc.constantFrom(1.5, 2 ** 40, null),
);

/** Events with some of the attributes that the expressions name. The required ones are always there. */
export const events: fc.Arbitrary<Record<string, unknown>> = fc.record(
  {
    id: fc.oneof(fc.constantFrom('a', 'ab', '5'), attributeValue),
    type: fc.oneof(fc.constantFrom('a', 'ab', 'abc'), literalText),
    source: literalText,
    specversion: fc.constant('1.0'),
    a: attributeValue,
    b1: attributeValue,
    hop: attributeValue,
  },
  { requiredKeys: ['id', 'type', 'source', 'specversion'] },
);

/** The same expression without the places of its parts. */
export function withoutPlaces(node: Expression): unknown {
  return JSON.parse(
    JSON.stringify(node, (key, value) => (key === 'start' || key === 'end' ? undefined : value)),
  );
}
