import { fail, type Span, shown } from './error.ts';
import { collectsFailures, type Evaluator } from './evaluator.ts';
import { DATA, hasAttribute, readAttribute } from './event.ts';
import { type FunctionDefinition, type FunctionTable, failureValue, parameterType } from './functions.ts';
import { compilePattern } from './like.ts';
import {
  arithmetic,
  castToBoolean,
  castToInteger,
  castToText,
  equality,
  equalsText,
  like,
  literalMembership,
  logic,
  membership,
  negate,
  not,
  order,
} from './operators.ts';
import type { Call, Equality, Expression, In } from './syntax.ts';
import { isOfType, type Value, type ValueType } from './value.ts';

/** What nodes are compiled with. */
export interface Scope {
  readonly functions: FunctionTable;
  /** An evaluator that other expressions share, for a Boolean operand; null to compile the node for itself. */
  readonly sharedBoolean: (node: Expression) => Evaluator<boolean> | null;
  /** The same for a call, whatever its type. */
  readonly sharedCall: (node: Call) => Evaluator | null;
  /** Called with the value that a failed call has all the same, which counts where the call is the whole expression. */
  readonly onFailedCall: (call: Call, value: Value) => void;
}

/** For an expression that stands alone. */
export const unshared = { sharedBoolean: () => null, sharedCall: () => null } as const;

/** The type of an expression's value, or null for an attribute, whose type the event decides. */
export function typeOfExpression(node: Expression, functions: FunctionTable): ValueType | null {
  switch (node.type) {
    case 'literal':
      return typeof node.value === 'string'
        ? 'String'
        : typeof node.value === 'number'
          ? 'Integer'
          : 'Boolean';
    case 'attribute':
      return null;
    case 'negate':
    case 'arithmetic':
      return 'Integer';
    case 'not':
    case 'logic':
    case 'equality':
    case 'order':
    case 'like':
    case 'exists':
    case 'in':
      return 'Boolean';
    case 'call':
      return functions.find(node.name, node.args.length)?.returns ?? 'Boolean';
  }
}

/** Compiles an expression to closures; no text becomes code. */
export function compileNode(node: Expression, scope: Scope): Evaluator {
  switch (node.type) {
    case 'literal':
      return constant(node.value);
    case 'attribute':
      return attribute(node.name, node);
    case 'negate':
    case 'arithmetic':
      return compileInteger(node, scope);
    case 'call':
      return scope.sharedCall(node) ?? compileCall(node, scope);
    case 'not':
    case 'logic':
    case 'equality':
    case 'order':
    case 'like':
    case 'exists':
    case 'in':
      return compileBoolean(node, scope);
  }
}

/** Compiles an expression, with a cast where it may be of another type. */
function compileBoolean(node: Expression, scope: Scope): Evaluator<boolean> {
  return scope.sharedBoolean(node) ?? compileBooleanAlone(node, scope);
}

/** As `compileBoolean`, but the node itself is not shared; its parts may be. */
export function compileBooleanAlone(node: Expression, scope: Scope): Evaluator<boolean> {
  switch (node.type) {
    case 'not':
      return not(compileBoolean(node.operand, scope));
    case 'logic':
      return logic(
        node.operands.map((operand) => compileBoolean(operand, scope)),
        node.operators,
      );
    case 'equality':
      return compileEquality(node, scope);
    case 'order':
      return order(compileInteger(node.left, scope), node.operator, compileInteger(node.right, scope));
    case 'like':
      return like(compileText(node.operand, scope), compilePattern(node.pattern), node.negated);
    case 'exists': {
      const { name } = node;
      return (event) => hasAttribute(event, name);
    }
    case 'in':
      return compileIn(node, scope);
    case 'literal':
    case 'attribute':
    case 'negate':
    case 'arithmetic':
    case 'call':
      return castToBoolean(compileNode(node, scope), node);
  }
}

function compileInteger(node: Expression, scope: Scope): Evaluator<number> {
  if (node.type === 'negate') return negate(compileInteger(node.operand, scope));
  if (node.type === 'arithmetic') {
    const left = compileInteger(node.left, scope);
    return arithmetic(left, node.operator, compileInteger(node.right, scope), node);
  }
  if (node.type === 'literal' && typeof node.value === 'number') return constant(node.value);
  return castToInteger(compileNode(node, scope), node);
}

const compileText = (node: Expression, scope: Scope): Evaluator<string> =>
  castToText(compileNode(node, scope));

const constant =
  <T extends Value>(value: T): Evaluator<T> =>
  () =>
    value;

function attribute(name: string, span: Span): Evaluator {
  return (event, failures) => {
    const value = readAttribute(event, name);
    if (value !== undefined || failures === null) return value;
    const why = name === DATA ? ': expressions do not see the data' : '';
    return fail(failures, 'missingAttribute', span, `The event has no attribute ${shown(name)}${why}.`);
  };
}

function compileEquality(node: Equality, scope: Scope): Evaluator<boolean> {
  const { left, operator, right } = node;
  const negated = operator === '!=';
  const first = compileNode(left, scope);
  if (right.type === 'literal' && typeof right.value === 'string')
    return equalsText(first, right.value, negated);
  return equality(first, compileNode(right, scope), negated, node.left);
}

function compileIn(node: In, scope: Scope): Evaluator<boolean> {
  const operand = compileNode(node.operand, scope);
  const values = node.elements.flatMap((element) => (element.type === 'literal' ? [element.value] : []));
  if (values.length === node.elements.length) return literalMembership(operand, values, node.negated, node);
  const elements = node.elements.map((element) => compileNode(element, scope));
  return membership(operand, elements, node.negated, node);
}

/** Compiles a call that nothing else shares; its arguments may be shared. */
export function compileCall(node: Call, scope: Scope): Evaluator {
  const definition = scope.functions.find(node.name, node.args.length);
  if (definition === undefined) {
    const arity = scope.functions.arity(node.name);
    const message =
      arity === undefined
        ? `There is no function ${node.name}.`
        : `${node.name} takes ${arity}, not ${node.args.length}.`;
    return (_event, failures) =>
      failures === null ? undefined : fail(failures, 'missingFunction', node, message);
  }
  const args = node.args.map((arg, index) => compileArgument(arg, definition, index, scope));
  return (event, failures) => {
    const values: Value[] = [];
    let failed = false;
    for (const arg of args) {
      const value = arg(event, failures);
      if (value !== undefined) values.push(value);
      else if (collectsFailures(failures)) failed = true;
      else return undefined;
    }
    if (failed) return undefined;
    const result = runFunction(definition, values);
    if (typeof result !== 'object') return result;
    if (failures === null) return undefined;
    scope.onFailedCall(node, failureValue(definition, result));
    return fail(failures, result.kind ?? 'functionEvaluation', node, `${node.name} ${result.error}.`);
  };
}

function compileArgument(
  node: Expression,
  definition: FunctionDefinition,
  index: number,
  scope: Scope,
): Evaluator {
  const type = parameterType(definition, index);
  switch (type) {
    case 'Any':
      return compileNode(node, scope);
    case 'Boolean':
      return compileBoolean(node, scope);
    case 'Integer':
      return compileInteger(node, scope);
    case 'String':
      return compileText(node, scope);
  }
}

/** What a function of the caller throws, or returns of a wrong type, is a failure like any other. */
function runFunction(definition: FunctionDefinition, args: readonly Value[]) {
  try {
    const result = definition.run(args);
    if (isOfType(result, definition.returns)) return result;
    if (typeof result === 'object' && result !== null && typeof result.error === 'string') {
      const { value, ...failure } = result;
      return isOfType(value, definition.returns) ? result : failure;
    }
    return { error: `returned ${shown(result)}, which is not of type ${definition.returns}` };
  } catch (error) {
    return { error: `threw ${shown(error instanceof Error ? error.message : String(error))}` };
  }
}
