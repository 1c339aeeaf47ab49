/**
 * CESQL 1.0, the expression language of CloudEvents, without any dependency. `compile` is where to begin.
 *
 *     const compiled = compile("type LIKE 'com.example.%' AND EXISTS subject");
 *     if (compiled.ok) compiled.expression.matches(event);
 */
export {
  type Compiled,
  type CompiledExpression,
  type CompileOptions,
  compile,
  type Evaluation,
  functionsWith,
  type Mode,
} from './compile.ts';
export type { CesqlError, ErrorKind, Position } from './error.ts';
export type { AttributeReader, CesqlEvent } from './event.ts';
export { createFilterIndex, type Filter, type FilterIndex, type FilterStatistics } from './filter-index.ts';
export type { FunctionDefinition, FunctionFailure, FunctionTable, ParameterType } from './functions.ts';
export type { Warning, WarningCode } from './lint.ts';
export { type Parsed, type ParseOptions, parse } from './parser.ts';
export { print } from './print.ts';
export type { Expression } from './syntax.ts';
export type { Value, ValueType } from './value.ts';
