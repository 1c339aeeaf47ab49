import { characterCount, offsetOf, trimmed } from './characters.ts';
import { shown } from './error.ts';
import type { FunctionDefinition, FunctionFailure, ParameterType } from './functions.ts';
import {
  castTo,
  maximumInteger,
  minimumInteger,
  toInteger,
  toText,
  type Value,
  type ValueType,
} from './value.ts';

/** Longest text that CONCAT and CONCAT_WS make, in UTF-16 units, so that no expression can use up the memory. */
const maximumTextLength = 262_144;

const text = (args: readonly Value[], index: number): string => toText(args[index] ?? '');
const integer = (args: readonly Value[], index: number): number => toInteger(args[index] ?? 0) ?? 0;

function stringFunction(
  name: string,
  parameters: readonly ParameterType[],
  run: (args: readonly Value[]) => string | FunctionFailure,
): FunctionDefinition {
  return { name, parameters, returns: 'String', run };
}

/** INT, BOOL and STRING are the casts, to be called by name. */
function castFunction(name: string, returns: ValueType): FunctionDefinition {
  const run = ([value = '']: readonly Value[]): Value | FunctionFailure =>
    castTo(value, returns) ?? { kind: 'cast', error: `cannot read ${shown(value)} as ${returns}` };
  return { name, parameters: ['Any'], returns, run };
}

/** The functions of CESQL 1.0, section 3.5, and the casts that its conformance tests name. */
export const builtinFunctions: readonly FunctionDefinition[] = [
  {
    name: 'LENGTH',
    parameters: ['String'],
    returns: 'Integer',
    run: (args) => characterCount(text(args, 0)),
  },
  {
    name: 'CONCAT',
    parameters: [],
    variadic: 'String',
    returns: 'String',
    run: (args) => joined(args.map(toText), ''),
  },
  {
    name: 'CONCAT_WS',
    parameters: ['String'],
    variadic: 'String',
    returns: 'String',
    run: (args) => joined(args.slice(1).map(toText), text(args, 0)),
  },
  stringFunction('LOWER', ['String'], (args) => text(args, 0).toLowerCase()),
  stringFunction('UPPER', ['String'], (args) => text(args, 0).toUpperCase()),
  stringFunction('TRIM', ['String'], (args) => trimmed(text(args, 0))),
  stringFunction('LEFT', ['String', 'Integer'], (args) => left(text(args, 0), integer(args, 1))),
  stringFunction('RIGHT', ['String', 'Integer'], (args) => right(text(args, 0), integer(args, 1))),
  stringFunction('SUBSTRING', ['String', 'Integer'], (args) =>
    substring(text(args, 0), integer(args, 1), maximumInteger),
  ),
  stringFunction('SUBSTRING', ['String', 'Integer', 'Integer'], (args) =>
    substring(text(args, 0), integer(args, 1), integer(args, 2)),
  ),
  { name: 'ABS', parameters: ['Integer'], returns: 'Integer', run: (args) => absolute(integer(args, 0)) },
  castFunction('INT', 'Integer'),
  castFunction('BOOL', 'Boolean'),
  castFunction('STRING', 'String'),
];

function joined(texts: readonly string[], delimiter: string): string | FunctionFailure {
  const length = texts.reduce(
    (sum, part) => sum + part.length,
    delimiter.length * Math.max(0, texts.length - 1),
  );
  if (length > maximumTextLength) return { error: `makes a text of ${length}, ${maximumTextLength} at most` };
  return texts.join(delimiter);
}

function left(value: string, count: number): string | FunctionFailure {
  if (count < 0) return { error: `needs a length of 0 or more, not ${count}`, value };
  return value.slice(0, offsetOf(value, count));
}

function right(value: string, count: number): string | FunctionFailure {
  if (count < 0) return { error: `needs a length of 0 or more, not ${count}`, value };
  const skipped = characterCount(value) - count;
  return skipped <= 0 ? value : value.slice(offsetOf(value, skipped));
}

/** @param position from 1, or from -1 backwards from the end */
function substring(value: string, position: number, count: number): string | FunctionFailure {
  const length = characterCount(value);
  if (position > length || position < -length)
    return { error: `has no position ${position} in a text of ${length} characters` };
  if (count < 0) return { error: `needs a length of 0 or more, not ${count}` };
  if (position === 0) return '';
  const start = offsetOf(value, position > 0 ? position - 1 : length + position);
  const rest = value.slice(start);
  return rest.slice(0, offsetOf(rest, count));
}

function absolute(value: number): number | FunctionFailure {
  if (value === minimumInteger)
    return { kind: 'math', error: `of ${minimumInteger} does not fit`, value: maximumInteger };
  return Math.abs(value);
}
