import type { Span } from './error.ts';
import type { Value } from './value.ts';

export type LogicOperator = 'AND' | 'OR' | 'XOR';
export type EqualityOperator = '=' | '!=';
export type OrderOperator = '<' | '<=' | '>' | '>=';
export type ArithmeticOperator = '*' | '/' | '%' | '+' | '-';

export interface Literal extends Span {
  readonly type: 'literal';
  readonly value: Value;
}

/** A context attribute or extension of the event. */
export interface Attribute extends Span {
  readonly type: 'attribute';
  /** In lower case, as all names of attributes are. */
  readonly name: string;
}

export interface Not extends Span {
  readonly type: 'not';
  readonly operand: Expression;
}

export interface Negate extends Span {
  readonly type: 'negate';
  readonly operand: Expression;
}

/**
 * `a AND b OR c …` as it was written, without parentheses between. AND, OR and XOR stand on one level and bind to the
 * right: `operands[0] operators[0] (operands[1] operators[1] (…))`.
 */
export interface Logic extends Span {
  readonly type: 'logic';
  /** Two or more. */
  readonly operands: readonly Expression[];
  /** One less than operands. */
  readonly operators: readonly LogicOperator[];
}

export interface Equality extends Span {
  readonly type: 'equality';
  readonly operator: EqualityOperator;
  readonly left: Expression;
  readonly right: Expression;
}

export interface Order extends Span {
  readonly type: 'order';
  readonly operator: OrderOperator;
  readonly left: Expression;
  readonly right: Expression;
}

export interface Arithmetic extends Span {
  readonly type: 'arithmetic';
  readonly operator: ArithmeticOperator;
  readonly left: Expression;
  readonly right: Expression;
}

export interface Like extends Span {
  readonly type: 'like';
  readonly negated: boolean;
  readonly operand: Expression;
  readonly pattern: string;
}

export interface Exists extends Span {
  readonly type: 'exists';
  readonly name: string;
}

export interface In extends Span {
  readonly type: 'in';
  readonly negated: boolean;
  readonly operand: Expression;
  /** One or more. */
  readonly elements: readonly Expression[];
}

export interface Call extends Span {
  readonly type: 'call';
  /** In upper case. */
  readonly name: string;
  readonly args: readonly Expression[];
}

/** A parsed expression. Parentheses are not kept: what they did stands in the shape. */
export type Expression =
  | Literal
  | Attribute
  | Not
  | Negate
  | Logic
  | Equality
  | Order
  | Arithmetic
  | Like
  | Exists
  | In
  | Call;

/** The direct parts of an expression, from left to right. */
export function partsOf(node: Expression): readonly Expression[] {
  switch (node.type) {
    case 'literal':
    case 'attribute':
    case 'exists':
      return [];
    case 'not':
    case 'negate':
    case 'like':
      return [node.operand];
    case 'equality':
    case 'order':
    case 'arithmetic':
      return [node.left, node.right];
    case 'logic':
      return node.operands;
    case 'in':
      return [node.operand, ...node.elements];
    case 'call':
      return node.args;
  }
}

/** The names of all attributes that an expression mentions, sorted. */
export function attributesOf(node: Expression): string[] {
  const names = new Set<string>();
  const pending = [node];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (next.type === 'attribute' || next.type === 'exists') names.add(next.name);
    for (const part of partsOf(next)) pending.push(part);
  }
  return [...names].sort();
}
