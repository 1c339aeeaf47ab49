import { isRequired } from './event.ts';
import { literalEnds } from './like.ts';
import type { Attribute, Equality, Expression, In, Like, Logic } from './syntax.ts';
import { toText } from './value.ts';

/**
 * Something about the text of one attribute. Where the event's attribute is a Boolean or an integer, a test says
 * nothing, for the filter compares it otherwise; `present` alone holds of every value.
 */
export interface AttributeTest {
  readonly attribute: string;
  readonly kind: 'equal' | 'prefix' | 'suffix' | 'present';
  /** Empty for `present`. */
  readonly text: string;
}

/** One of these tests holds whenever the filter lets an event pass. Never empty. */
export type Condition = readonly AttributeTest[];

/** More alternatives than this are no help. */
const MOST_TESTS = 64;

/** How few events each kind of test may be expected to let through; the fewest first. */
const selectivity = { equal: 0, prefix: 1, suffix: 1, present: 2 } as const;

/** The worst of the tests counts, because any of them may be the one that holds. */
export function selectivityOf(condition: Condition): number {
  return Math.max(...condition.map(({ kind }) => selectivity[kind]));
}

/**
 * Conditions, each of which holds for every event that the expression lets pass: what a look-up can rule out before
 * anything is evaluated. None when nothing is known.
 */
export function conditionsOf(node: Expression): Condition[] {
  return specificConditions(node) ?? presence(node);
}

function specificConditions(node: Expression): Condition[] | null {
  switch (node.type) {
    case 'logic':
      return logicConditions(node, 0);
    case 'equality':
      return equalityConditions(node);
    case 'in':
      return inConditions(node);
    case 'like':
      return likeConditions(node);
    case 'exists':
      return present([node.name]);
    case 'literal':
    case 'attribute':
    case 'not':
    case 'negate':
    case 'order':
    case 'arithmetic':
    case 'call':
      return null;
  }
}

/** The conditions of the chain from an operand on; what stands behind its operator is the right operand. */
function logicConditions(node: Logic, from: number): Condition[] {
  const conditions: Condition[] = [];
  for (let index = from; ; index += 1) {
    const operand = node.operands[index];
    const operator = node.operators[index];
    if (operand === undefined) return conditions;
    const own = conditionsOf(operand);
    if (operator === undefined || operator === 'AND') {
      conditions.push(...own);
      continue;
    }
    // Of OR at least one side is true, of XOR exactly one.
    return [...conditions, ...either(own, logicConditions(node, index + 1))];
  }
}

/** One condition of each side, side by side. */
function either(left: readonly Condition[], right: readonly Condition[]): Condition[] {
  const first = mostSelective(left);
  const second = mostSelective(right);
  if (first === undefined || second === undefined) return [];
  const together = [...first, ...second];
  return together.length > MOST_TESTS ? [] : [together];
}

function mostSelective(conditions: readonly Condition[]): Condition | undefined {
  return conditions.toSorted((a, b) => selectivityOf(a) - selectivityOf(b) || a.length - b.length)[0];
}

function equalityConditions({ left, operator, right }: Equality): Condition[] | null {
  if (operator !== '=') return null;
  // `attribute = 5` also holds for '05': only a text on the right is compared as a text.
  if (left.type === 'attribute' && right.type === 'literal' && typeof right.value === 'string')
    return [[{ attribute: left.name, kind: 'equal', text: right.value }]];
  if (left.type === 'literal' && right.type === 'attribute')
    return [[{ attribute: right.name, kind: 'equal', text: toText(left.value) }]];
  return null;
}

function inConditions({ elements, negated, operand }: In): Condition[] | null {
  if (negated || operand.type !== 'attribute') return null;
  const texts = new Set(
    elements.flatMap((element) => (element.type === 'literal' ? [toText(element.value)] : [])),
  );
  if (elements.some(({ type }) => type !== 'literal') || texts.size > MOST_TESTS) return null;
  return [[...texts].map((text) => ({ attribute: operand.name, kind: 'equal', text }) as const)];
}

function likeConditions({ negated, operand, pattern }: Like): Condition[] | null {
  if (negated || operand.type !== 'attribute') return null;
  const attribute = operand.name;
  const { prefix, suffix, whole } = literalEnds(pattern);
  if (whole) return [[{ attribute, kind: 'equal', text: prefix }]];
  const conditions: Condition[] = [];
  if (prefix !== '') conditions.push([{ attribute, kind: 'prefix', text: prefix }]);
  if (suffix !== '') conditions.push([{ attribute, kind: 'suffix', text: suffix }]);
  return conditions.length === 0 ? null : conditions;
}

/** An expression without errors has found every attribute that it reads in any case. */
function presence(node: Expression): Condition[] {
  return present(alwaysRead(node).map(({ name }) => name));
}

function present(names: readonly string[]): Condition[] {
  return names
    .filter((name) => !isRequired(name))
    .map((attribute) => [{ attribute, kind: 'present', text: '' }]);
}

/** Where attributes stand that every evaluation reads which finds no error before. */
export function alwaysRead(node: Expression): Attribute[] {
  switch (node.type) {
    case 'literal':
    case 'exists':
      return [];
    case 'attribute':
      return [node];
    case 'not':
    case 'negate':
    case 'like':
    case 'in':
      return alwaysRead(node.operand);
    case 'equality':
    case 'order':
    case 'arithmetic':
      return [...alwaysRead(node.left), ...alwaysRead(node.right)];
    case 'call':
      return node.args.flatMap(alwaysRead);
    case 'logic': {
      const stop = node.operators.findIndex((operator) => operator !== 'XOR');
      const count = stop < 0 ? node.operands.length : stop + 1;
      return node.operands.slice(0, count).flatMap(alwaysRead);
    }
  }
}
