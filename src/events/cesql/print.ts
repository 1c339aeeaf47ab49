import { tokenAt } from './lexer.ts';
import type { Call, Expression, In, Literal, Logic } from './syntax.ts';

/** How tightly the written form of a node holds together; parentheses go around what holds less than its place asks. */
const tightness = {
  logic: 1,
  comparison: 2,
  additive: 3,
  multiplicative: 4,
  in: 5,
  like: 6,
  operand: 7,
} as const;

/**
 * Writes an expression in its one canonical form: keywords and functions in upper case, attributes in lower case, `!=`
 * for `<>`, and no parentheses but those that are needed. Parsing it gives the same expression.
 * @throws {TypeError} for a text that CESQL cannot say, which no parsed expression has (one that ends in a backslash)
 */
export function print(node: Expression): string {
  return printAt(node, 0);
}

function printAt(node: Expression, least: number): string {
  const text = printNode(node);
  return tightnessOf(node) < least ? `(${text})` : text;
}

function tightnessOf(node: Expression): number {
  switch (node.type) {
    case 'logic':
      return tightness.logic;
    case 'equality':
    case 'order':
      return tightness.comparison;
    case 'arithmetic':
      return node.operator === '+' || node.operator === '-' ? tightness.additive : tightness.multiplicative;
    case 'in':
      return tightness.in;
    case 'like':
      return tightness.like;
    case 'literal':
    case 'attribute':
    case 'exists':
    case 'call':
    case 'not':
    case 'negate':
      return tightness.operand;
  }
}

function printNode(node: Expression): string {
  switch (node.type) {
    case 'literal':
      return printLiteral(node);
    case 'attribute':
      return node.name;
    case 'exists':
      return `EXISTS ${node.name}`;
    case 'not':
      return `NOT ${printAt(node.operand, tightness.operand)}`;
    case 'negate':
      return `-${printNegated(node.operand)}`;
    case 'logic':
      return printLogic(node);
    case 'equality':
    case 'order':
    case 'arithmetic': {
      const own = tightnessOf(node);
      // Operators of one level bind to the left, and LIKE and IN end what stands before them at any level.
      return `${printAt(node.left, own)} ${node.operator} ${printAt(node.right, own + 1)}`;
    }
    case 'like':
      return `${printAt(node.operand, tightness.in)}${node.negated ? ' NOT' : ''} LIKE ${printText(node.pattern)}`;
    case 'in':
      return printIn(node);
    case 'call':
      return printCall(node);
  }
}

/** `-10` is a literal, so that the negative of the literal 10 needs parentheses. */
function printNegated(operand: Expression): string {
  const text = printAt(operand, tightness.operand);
  const digits = operand.type === 'literal' && typeof operand.value === 'number' && operand.value >= 0;
  return digits ? `(${text})` : text;
}

function printLiteral({ value }: Literal): string {
  if (typeof value === 'string') return printText(value);
  return typeof value === 'boolean' ? String(value).toUpperCase() : String(value);
}

function printText(value: string): string {
  for (const quote of ["'", '"']) {
    const text = `${quote}${value.replaceAll(quote, `\\${quote}`)}${quote}`;
    const token = tokenAt(text, 0, true);
    if (token.type === 'string' && token.value === value && token.end === text.length) return text;
  }
  throw new TypeError(`CESQL has no literal for the text ${JSON.stringify(value)}`);
}

function printLogic({ operands, operators }: Logic): string {
  const texts = operands.map((operand) => printAt(operand, tightness.comparison));
  return texts.map((text, index) => (index === 0 ? text : `${operators[index - 1]} ${text}`)).join(' ');
}

function printIn({ elements, negated, operand }: In): string {
  const set = elements.map((element) => print(element)).join(', ');
  return `${printAt(operand, tightness.in)}${negated ? ' NOT' : ''} IN (${set})`;
}

function printCall({ args, name }: Call): string {
  return `${name}(${args.map((arg) => print(arg)).join(', ')})`;
}
