import type { ErrorKind } from './error.ts';
import { type Value, type ValueType, zeroValues } from './value.ts';

/** `Any`: the argument is not cast. */
export type ParameterType = ValueType | 'Any';

/** What a function returns when it fails: the error, and a value when there is a better one than zero. */
export interface FunctionFailure {
  error: string;
  /** `functionEvaluation` unless named. */
  kind?: ErrorKind;
  value?: Value;
}

/**
 * A function that expressions can call. It must be pure: the same arguments give the same value, because an expression
 * may be evaluated less often, or more often, than it is written.
 */
export interface FunctionDefinition {
  /** Letters and underscores, in any case: names of functions are not case-sensitive. */
  name: string;
  parameters: readonly ParameterType[];
  /** The type of further arguments, as many as there are. */
  variadic?: ParameterType;
  returns: ValueType;
  /** @param args cast to the types of the parameters. What it throws becomes a `functionEvaluation` error. */
  run(args: readonly Value[]): Value | FunctionFailure;
}

/** The functions that an expression may call. */
export interface FunctionTable {
  /** The definition of a name in upper case for so many arguments, if there is one. */
  find(name: string, count: number): FunctionDefinition | undefined;
  /** All names, in upper case. */
  readonly names: readonly string[];
  /** How many arguments a name takes, in words, or undefined when there is no such function. */
  arity(name: string): string | undefined;
}

interface Overloads {
  fixed: Map<number, FunctionDefinition>;
  variadic: FunctionDefinition | null;
}

/**
 * Makes a table of definitions. A name may have one definition for each number of arguments, and one with a variable
 * number that has more fixed parameters than all others.
 * @throws {TypeError} when a name is not allowed, or two definitions cannot be told apart
 */
export function functionTable(definitions: readonly FunctionDefinition[]): FunctionTable {
  const byName = new Map<string, Overloads>();
  for (const definition of definitions) add(byName, definition);
  for (const [name, overloads] of byName) checkOverloads(name, overloads);
  return {
    find: (name, count) => {
      const overloads = byName.get(name);
      if (overloads === undefined) return undefined;
      const { fixed, variadic } = overloads;
      return (
        fixed.get(count) ?? (variadic !== null && count >= variadic.parameters.length ? variadic : undefined)
      );
    },
    names: [...byName.keys()].sort(),
    arity: (name) => {
      const overloads = byName.get(name);
      return overloads === undefined ? undefined : arityText(overloads);
    },
  };
}

function add(byName: Map<string, Overloads>, definition: FunctionDefinition): void {
  const name = definition.name.toUpperCase();
  if (!/^[A-Z][A-Z_]*$/.test(name))
    throw new TypeError(`A function's name has only letters and underscores: ${JSON.stringify(name)}`);
  const overloads = byName.get(name) ?? { fixed: new Map(), variadic: null };
  byName.set(name, overloads);
  const count = definition.parameters.length;
  if (definition.variadic !== undefined) {
    if (overloads.variadic !== null)
      throw new TypeError(`${name} is defined twice for any number of arguments`);
    overloads.variadic = definition;
  } else {
    if (overloads.fixed.has(count)) throw new TypeError(`${name} is defined twice for ${count} arguments`);
    overloads.fixed.set(count, definition);
  }
}

function checkOverloads(name: string, { fixed, variadic }: Overloads): void {
  if (variadic === null || fixed.size === 0) return;
  const most = Math.max(...fixed.keys());
  if (variadic.parameters.length <= most)
    throw new TypeError(`${name} for any number of arguments needs at least ${most + 1} fixed parameters`);
}

function arityText({ fixed, variadic }: Overloads): string {
  const counts = [...fixed.keys()].sort((a, b) => a - b).map(String);
  if (variadic !== null) counts.push(`${variadic.parameters.length} or more`);
  const single = counts.length === 1 && counts[0] === '1';
  return `${counts.join(' or ')} ${single ? 'argument' : 'arguments'}`;
}

/** The type of an argument by its place. Places behind the fixed parameters are of the variadic type. */
export function parameterType(definition: FunctionDefinition, index: number): ParameterType {
  return definition.parameters[index] ?? definition.variadic ?? 'Any';
}

/** The value that stands for a failed call. */
export function failureValue(definition: FunctionDefinition, failure: FunctionFailure): Value {
  return failure.value ?? zeroValues[definition.returns];
}
