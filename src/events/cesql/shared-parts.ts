import type { CompiledExpression } from './compile.ts';
import {
  compileBooleanAlone,
  compileCall,
  compileNode,
  type Scope,
  typeOfExpression,
} from './compile-node.ts';
import type { Evaluator } from './evaluator.ts';
import type { FunctionTable } from './functions.ts';
import { print } from './print.ts';
import { type Expression, partsOf } from './syntax.ts';
import type { Value } from './value.ts';

/** Compiles filters together: a part that several have is evaluated once for an event. */
export interface SharedParts {
  /** A filter's evaluator. It is to be called within `during`, without a list for its errors. */
  compile(expression: CompiledExpression): Evaluator;
  /** Does the work for one event: what was computed for another one is forgotten. */
  during<T>(work: () => T): T;
  /** How many parts are shared. */
  readonly count: number;
}

interface Round {
  current: number;
  last: number;
}

/** Finds the Boolean parts and the calls that stand in more than one of the expressions. */
export function sharedParts(expressions: Iterable<CompiledExpression>): SharedParts {
  const round: Round = { current: 0, last: 0 };
  const tables = new Map<FunctionTable, number>();
  const keyOf = (node: Expression, functions: FunctionTable): string => {
    const table = tables.get(functions) ?? tables.size;
    tables.set(functions, table);
    return `${table} ${print(node)}`;
  };
  const uses = countUses(expressions, keyOf);
  /** The evaluator of a part that several have, made once. */
  const once = <Part extends Expression, T extends Value>(
    make: (node: Part, scope: Scope) => Evaluator<T>,
    isWorthIt: (node: Part) => boolean,
  ) => {
    const evaluators = new Map<string, Evaluator<T>>();
    return (node: Part, scope: Scope): Evaluator<T> | null => {
      const key = isWorthIt(node) ? keyOf(node, scope.functions) : '';
      if ((uses.get(key) ?? 0) < 2) return null;
      const evaluator = evaluators.get(key) ?? remembering(make(node, scope), round);
      evaluators.set(key, evaluator);
      return evaluator;
    };
  };
  const sharedBoolean = once(compileBooleanAlone, worthSharing);
  const sharedCall = once(compileCall, () => true);
  const scopeOf = (functions: FunctionTable): Scope => {
    const scope: Scope = {
      functions,
      onFailedCall: () => {},
      sharedBoolean: (node) => sharedBoolean(node, scope),
      sharedCall: (node) => sharedCall(node, scope),
    };
    return scope;
  };
  return {
    compile: ({ functions, syntax }) => {
      const boolean = typeOfExpression(syntax, functions) === 'Boolean';
      return boolean
        ? compileBooleanAlone(syntax, scopeOf(functions))
        : compileNode(syntax, scopeOf(functions));
    },
    during: (work) => {
      // A function of the caller may ask the same filters about another event, while this one is not done.
      const outer = round.current;
      round.last += 1;
      round.current = round.last;
      try {
        return work();
      } finally {
        round.current = outer;
      }
    },
    count: [...uses.values()].filter((count) => count > 1).length,
  };
}

/** Remembering must cost less than evaluating. */
function worthSharing({ type }: Expression): boolean {
  return type !== 'literal' && type !== 'attribute' && type !== 'exists';
}

function countUses(
  expressions: Iterable<CompiledExpression>,
  keyOf: (node: Expression, functions: FunctionTable) => string,
): Map<string, number> {
  const uses = new Map<string, number>();
  for (const { functions, syntax } of expressions) {
    const keys = new Set(shareableParts(syntax).map((node) => keyOf(node, functions)));
    for (const key of keys) uses.set(key, (uses.get(key) ?? 0) + 1);
  }
  return uses;
}

/** The operands of AND, OR, XOR and NOT, and calls, at any depth. */
function shareableParts(root: Expression): Expression[] {
  const shared = new Set<Expression>();
  const pending = [root];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    const parts = partsOf(node);
    const operands = node.type === 'logic' || node.type === 'not' ? parts.filter(worthSharing) : [];
    for (const operand of operands) shared.add(operand);
    if (node.type === 'call') shared.add(node);
    for (const part of parts) pending.push(part);
  }
  return [...shared];
}

function remembering<T extends Value>(evaluator: Evaluator<T>, round: Round): Evaluator<T> {
  let evaluatedIn = 0;
  let value: T | undefined;
  return (event, failures) => {
    const current = round.current;
    if (evaluatedIn === current) return value;
    const result = evaluator(event, failures);
    value = result;
    evaluatedIn = current;
    return result;
  };
}
