import { fail, type Span, shown } from './error.ts';
import { collectsFailures, type Evaluator } from './evaluator.ts';
import type { Matcher } from './like.ts';
import type { ArithmeticOperator, LogicOperator, OrderOperator } from './syntax.ts';
import { castTo, toBoolean, toInteger, toText, typeOf, type Value, type ValueType } from './value.ts';

export function castToBoolean(operand: Evaluator, span: Span): Evaluator<boolean> {
  return (event, failures) => {
    const value = operand(event, failures);
    if (value === undefined || typeof value === 'boolean') return value;
    const boolean = toBoolean(value);
    return boolean === undefined && failures !== null
      ? fail(failures, 'cast', span, uncastable(value, 'Boolean'))
      : boolean;
  };
}

export function castToInteger(operand: Evaluator, span: Span): Evaluator<number> {
  return (event, failures) => {
    const value = operand(event, failures);
    if (value === undefined || typeof value === 'number') return value;
    const integer = toInteger(value);
    return integer === undefined && failures !== null
      ? fail(failures, 'cast', span, uncastable(value, 'Integer'))
      : integer;
  };
}

export function castToText(operand: Evaluator): Evaluator<string> {
  return (event, failures) => {
    const value = operand(event, failures);
    return value === undefined || typeof value === 'string' ? value : String(value);
  };
}

export function uncastable(value: Value, type: ValueType): string {
  const reasons: Readonly<Record<ValueType, string>> = {
    Boolean: "only 'true' and 'false' are",
    Integer: 'only digits with an optional sign, within 32 bits, are',
    String: '',
  };
  return `${shown(value)} cannot be read as ${type}: ${reasons[type]}.`;
}

export function not(operand: Evaluator<boolean>): Evaluator<boolean> {
  return (event, failures) => {
    const value = operand(event, failures);
    return value === undefined ? undefined : !value;
  };
}

/** Integers wrap around: minus -2147483648 is itself. */
export function negate(operand: Evaluator<number>): Evaluator<number> {
  return (event, failures) => {
    const value = operand(event, failures);
    return value === undefined ? undefined : -value | 0;
  };
}

/** Evaluates from left to right, and stops where the rest cannot change the value. */
export function logic(
  operands: readonly Evaluator<boolean>[],
  operators: readonly LogicOperator[],
): Evaluator<boolean> {
  const [first, second] = operands;
  const [operator] = operators;
  if (first !== undefined && second !== undefined && operators.length === 1 && operator !== undefined)
    return pair(first, operator, second);
  return (event, failures) => {
    let failed = false;
    let flipped = false;
    for (let index = 0; index < operands.length; index += 1) {
      const value = operands[index]?.(event, failures);
      if (value === undefined) {
        if (!collectsFailures(failures)) return undefined;
        failed = true;
      }
      const next = operators[index];
      const ends =
        next === undefined || (next === 'AND' && value !== true) || (next === 'OR' && value === true);
      if (ends) return failed ? undefined : value !== flipped;
      if (next === 'XOR' && value === true) flipped = !flipped;
    }
    return undefined;
  };
}

/** The common case of two operands, without a loop. */
function pair(
  left: Evaluator<boolean>,
  operator: LogicOperator,
  right: Evaluator<boolean>,
): Evaluator<boolean> {
  switch (operator) {
    case 'AND':
      return (event, failures) => {
        const first = left(event, failures);
        return first === true ? right(event, failures) : first;
      };
    case 'OR':
      return (event, failures) => {
        const first = left(event, failures);
        if (first === false) return right(event, failures);
        if (first === undefined && collectsFailures(failures)) right(event, failures);
        return first;
      };
    case 'XOR':
      return (event, failures) => {
        const first = left(event, failures);
        if (first === undefined && !collectsFailures(failures)) return undefined;
        const second = right(event, failures);
        return first === undefined || second === undefined ? undefined : first !== second;
      };
  }
}

/** The type of the right operand decides: the left one is cast to it. */
export function equality(
  left: Evaluator,
  right: Evaluator,
  negated: boolean,
  span: Span,
): Evaluator<boolean> {
  return (event, failures) => {
    const first = left(event, failures);
    if (first === undefined && !collectsFailures(failures)) return undefined;
    const second = right(event, failures);
    if (first === undefined || second === undefined) return undefined;
    const type = typeOf(second);
    const cast = castTo(first, type);
    if (cast !== undefined) return (cast === second) !== negated;
    return failures === null ? undefined : fail(failures, 'cast', span, uncastable(first, type));
  };
}

/** Equality with a text that is written in the expression: the cast of the left operand cannot fail. */
export function equalsText(left: Evaluator, text: string, negated: boolean): Evaluator<boolean> {
  return (event, failures) => {
    const value = left(event, failures);
    if (value === undefined) return undefined;
    return ((typeof value === 'string' ? value : String(value)) === text) !== negated;
  };
}

export function order(
  left: Evaluator<number>,
  operator: OrderOperator,
  right: Evaluator<number>,
): Evaluator<boolean> {
  switch (operator) {
    case '<':
      return onIntegers(left, right, (x, y) => x < y);
    case '<=':
      return onIntegers(left, right, (x, y) => x <= y);
    case '>':
      return onIntegers(left, right, (x, y) => x > y);
    case '>=':
      return onIntegers(left, right, (x, y) => x >= y);
  }
}

/** Integers wrap around at 32 bits, without an error; a division by zero is one. */
export function arithmetic(
  left: Evaluator<number>,
  operator: ArithmeticOperator,
  right: Evaluator<number>,
  span: Span,
): Evaluator<number> {
  switch (operator) {
    case '+':
      return onIntegers(left, right, (x, y) => (x + y) | 0);
    case '-':
      return onIntegers(left, right, (x, y) => (x - y) | 0);
    case '*':
      return onIntegers(left, right, Math.imul);
    case '/':
      return division(left, right, span, (x, y) => (x / y) | 0);
    case '%':
      return division(left, right, span, (x, y) => (x % y) | 0);
  }
}

function onIntegers<T extends Value>(
  left: Evaluator<number>,
  right: Evaluator<number>,
  compute: (x: number, y: number) => T,
): Evaluator<T> {
  return (event, failures) => {
    const x = left(event, failures);
    if (x === undefined && !collectsFailures(failures)) return undefined;
    const y = right(event, failures);
    return x === undefined || y === undefined ? undefined : compute(x, y);
  };
}

function division(
  left: Evaluator<number>,
  right: Evaluator<number>,
  span: Span,
  compute: (x: number, y: number) => number,
): Evaluator<number> {
  return (event, failures) => {
    const x = left(event, failures);
    if (x === undefined && !collectsFailures(failures)) return undefined;
    const y = right(event, failures);
    if (x === undefined || y === undefined) return undefined;
    if (y !== 0) return compute(x, y);
    return failures === null ? undefined : fail(failures, 'math', span, `${x} is divided by zero.`);
  };
}

export function like(operand: Evaluator<string>, matches: Matcher, negated: boolean): Evaluator<boolean> {
  return (event, failures) => {
    const text = operand(event, failures);
    return text === undefined ? undefined : matches(text) !== negated;
  };
}

/** Elements are cast to the type of the left operand, and compared until one is equal. */
export function membership(
  operand: Evaluator,
  elements: readonly Evaluator[],
  negated: boolean,
  span: Span,
): Evaluator<boolean> {
  return (event, failures) => {
    const operandValue = operand(event, failures);
    let failed = operandValue === undefined;
    for (const element of elements) {
      if (failed && !collectsFailures(failures)) return undefined;
      const value = element(event, failures);
      const cast =
        value === undefined || operandValue === undefined ? undefined : castTo(value, typeOf(operandValue));
      if (cast !== undefined && cast === operandValue && !failed) return !negated;
      if (cast !== undefined) continue;
      failed = true;
      if (value !== undefined && operandValue !== undefined && failures !== null)
        fail(failures, 'cast', span, uncastable(value, typeOf(operandValue)));
    }
    return failed ? undefined : negated;
  };
}

/** Membership in a set of literals: for a text on the left it is one look-up. */
export function literalMembership(
  operand: Evaluator,
  values: readonly Value[],
  negated: boolean,
  span: Span,
): Evaluator<boolean> {
  const texts = new Set(values.map(toText));
  const elements = values.map((value) => () => value);
  return (event, failures) => {
    const value = operand(event, failures);
    if (value === undefined) return undefined;
    if (typeof value === 'string') return texts.has(value) !== negated;
    return membership(() => value, elements, negated, span)(event, failures);
  };
}
