import { builtinFunctions } from './builtin-functions.ts';
import { compileNode, type Scope, typeOfExpression, unshared } from './compile-node.ts';
import { type CesqlError, type Failures, type Locate, locator } from './error.ts';
import type { Evaluator } from './evaluator.ts';
import type { CesqlEvent } from './event.ts';
import { type FunctionDefinition, type FunctionTable, functionTable } from './functions.ts';
import { lint, type Warning } from './lint.ts';
import { type ParseOptions, parse } from './parser.ts';
import { attributesOf, type Expression } from './syntax.ts';
import { type Value, type ValueType, zeroValues } from './value.ts';

export interface CompileOptions extends ParseOptions {
  /** What `functionsWith` made. The built-in functions alone unless given. */
  functions?: FunctionTable;
}

/** A value, and what went wrong on the way to it. Without errors the value is the expression's. */
export interface Evaluation {
  value: Value;
  /** In the order of evaluation. */
  errors: readonly CesqlError[];
}

/**
 * `complete`: go on after an error, and tell all of them. `fail-fast`: stop at the first one; the value is the zero
 * value of the expression's type.
 */
export type Mode = 'complete' | 'fail-fast';

/** An expression that is ready to be evaluated, any number of times. */
export interface CompiledExpression {
  readonly text: string;
  readonly syntax: Expression;
  /** The functions it was compiled with. */
  readonly functions: FunctionTable;
  /** The attributes that it mentions, sorted. */
  readonly attributes: readonly string[];
  /** The type of its value; null when the event decides, because the expression is an attribute alone. */
  readonly type: ValueType | null;
  /** What is allowed and probably not meant. */
  readonly warnings: readonly Warning[];
  /** The value for an event. Does not throw. */
  evaluate(event: CesqlEvent, mode?: Mode): Evaluation;
  /** As a filter: true when the value is the Boolean true and there was no error. */
  matches(event: CesqlEvent): boolean;
}

export type Compiled = { ok: true; expression: CompiledExpression } | { ok: false; error: CesqlError };

const builtins = functionTable(builtinFunctions);

/**
 * The built-in functions and more, for `compile`. Make it once: filters are joined only where they share one.
 * @throws {TypeError} when a name is not allowed, or two definitions cannot be told apart
 */
export function functionsWith(definitions: readonly FunctionDefinition[]): FunctionTable {
  return functionTable([...builtinFunctions, ...definitions]);
}

/** Parses and compiles an expression. What is no expression gives a `parse` error with its place. */
export function compile(text: string, options: CompileOptions = {}): Compiled {
  const functions = options.functions ?? builtins;
  const parsed = parse(text, options);
  if (!parsed.ok) return parsed;
  const locate = locator(text);
  const { doubledQuotes, expression: syntax } = parsed;
  const expression: CompiledExpression = {
    text,
    syntax,
    functions,
    attributes: attributesOf(syntax),
    type: typeOfExpression(syntax, functions),
    warnings: lint({ text, syntax, functions, doubledQuotes, locate }),
    ...evaluation(syntax, functions, locate),
  };
  return { ok: true, expression };
}

function evaluation(syntax: Expression, functions: FunctionTable, locate: Locate) {
  const type = typeOfExpression(syntax, functions) ?? 'Boolean';
  /** What a call that is the whole expression returned beside its error: its own value, not zero. */
  let failedValue: Value | null = null;
  const scope: Scope = {
    functions,
    ...unshared,
    onFailedCall: (call, value) => {
      failedValue = call === syntax ? value : null;
    },
  };
  const evaluator: Evaluator = compileNode(syntax, scope);
  return {
    evaluate: (event: CesqlEvent, mode: Mode = 'complete'): Evaluation => {
      const failures: Failures = { errors: [], complete: mode === 'complete', locate };
      failedValue = null;
      const value = evaluator(event, failures);
      if (value !== undefined) return { value, errors: [] };
      const best = failures.complete ? failedValue : null;
      return { value: best ?? zeroValues[type], errors: failures.errors };
    },
    matches: (event: CesqlEvent) => evaluator(event, null) === true,
  };
}
