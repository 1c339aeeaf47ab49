import { builtinFunctions } from './builtin-functions.ts';
import { compileNode, typeOfExpression, unshared } from './compile-node.ts';
import { type Failures, type Locate, type Position, type Span, shown } from './error.ts';
import { contextAttributes, DATA, isRequired } from './event.ts';
import { type FunctionTable, parameterType } from './functions.ts';
import { likelyName } from './names.ts';
import { uncastable } from './operators.ts';
import { type Expression, partsOf } from './syntax.ts';
import { unguardedReads } from './unguarded-reads.ts';
import { castTo, type ValueType } from './value.ts';

export type WarningCode =
  /** AND, OR and XOR side by side without parentheses: they stand on one level and bind to the right. */
  | 'mixed-logic'
  /** An OR whose left side is an error for events without an attribute, so that they never pass. */
  | 'unguarded-or'
  /** NOT belongs to the operand beside it, not to the comparison behind that. */
  | 'not-precedence'
  /** A part whose evaluation is an error for every event. */
  | 'always-fails'
  /** No attribute of the event can change the value. */
  | 'constant'
  /** As a filter it lets no event pass, because its value is no Boolean. */
  | 'not-boolean'
  | 'unknown-function'
  /** The data of an event is no attribute. */
  | 'data'
  /** Almost the name of a context attribute. */
  | 'misspelled-attribute'
  /** Names of attributes are in lower case; this one is read so. */
  | 'upper-case-attribute'
  /** Names of attributes should not be longer than 20 characters. */
  | 'long-attribute'
  /** A doubled quote in a text is two quotes, unlike in SQL. */
  | 'doubled-quote';

export interface Warning {
  code: WarningCode;
  message: string;
  position: Position;
}

export interface LintInput {
  text: string;
  syntax: Expression;
  functions: FunctionTable;
  doubledQuotes: readonly Span[];
  locate: Locate;
}

type Report = (code: WarningCode, span: Span, message: string) => void;

interface Linting extends LintInput {
  report: Report;
}

const LONGEST_ATTRIBUTE = 20;

/** What is allowed in an expression and probably not meant, in the order of the text. */
export function lint(input: LintInput): Warning[] {
  const warnings: Warning[] = [];
  const report: Report = (code, span, message) => {
    warnings.push({ code, message, position: input.locate(span) });
  };
  const linting: Linting = { ...input, report };
  for (const span of input.doubledQuotes)
    report(
      'doubled-quote',
      span,
      'A doubled quote stands for two quotes: write \\ before a quote in a text.',
    );
  const { constant } = visit(input.syntax, linting);
  if (constant) warnConstant(input.syntax, linting);
  warnType(linting);
  warnUnguarded(linting);
  return warnings.sort((a, b) => a.position.offset - b.position.offset);
}

/** @returns whether the value is the same for every event */
function visit(node: Expression, linting: Linting): { constant: boolean } {
  const parts = partsOf(node);
  const constants = parts.map((part) => visit(part, linting).constant);
  warnNode(node, linting);
  const constant = isPlain(node, linting.functions) && constants.every((part) => part);
  if (!constant) {
    parts.forEach((part, index) => {
      if (constants[index] === true && part.type !== 'literal') warnFailure(part, linting);
    });
    if (!isMisreadNot(node, linting)) warnCasts(node, constants, linting);
  }
  return { constant };
}

/** Whether the parts of a node alone make its value. Functions of the caller are not called to find out. */
function isPlain(node: Expression, functions: FunctionTable): boolean {
  if (node.type === 'exists') return isRequired(node.name);
  if (node.type === 'attribute') return false;
  if (node.type !== 'call') return true;
  const definition = functions.find(node.name, node.args.length);
  return definition !== undefined && builtinFunctions.includes(definition);
}

function warnNode(node: Expression, linting: Linting): void {
  switch (node.type) {
    case 'attribute':
    case 'exists':
      warnName(node.name, node, linting);
      break;
    case 'logic':
      warnMixedLogic(node, linting);
      break;
    case 'equality':
    case 'order':
    case 'arithmetic':
    case 'like':
    case 'in':
      warnNot(node, linting);
      break;
    case 'call':
      warnFunction(node, linting);
      break;
    case 'literal':
    case 'not':
    case 'negate':
      break;
  }
}

function warnMixedLogic(node: Expression & { type: 'logic' }, { report }: Linting): void {
  const different = new Set(node.operators);
  if (different.size < 2) return;
  const names = [...different].join(' and ');
  report(
    'mixed-logic',
    node,
    `${names} bind equally tightly, and to the right: write parentheses to say what belongs together.`,
  );
}

/** A NOT without parentheses, first in an operation: it was read as part of the first operand. */
function isMisreadNot(node: Expression, { text }: Linting): boolean {
  const [first] = partsOf(node);
  const operation =
    node.type !== 'logic' && node.type !== 'call' && node.type !== 'not' && node.type !== 'negate';
  return operation && first?.type === 'not' && text.charAt(first.start) !== '(';
}

function warnNot(node: Expression, linting: Linting): void {
  const [first] = partsOf(node);
  if (first?.type !== 'not' || !isMisreadNot(node, linting)) return;
  const behind = linting.text.slice(first.operand.start, node.end);
  const short = behind.length > 60 ? '…' : behind;
  linting.report(
    'not-precedence',
    node,
    `NOT belongs to the operand beside it alone: did you mean NOT (${short})?`,
  );
}

function warnName(name: string, span: Span, { report, text }: Linting): void {
  const written = text.slice(span.start, span.end);
  if (name === DATA) report('data', span, 'Expressions do not see the data of an event: this never exists.');
  else if (name.length > LONGEST_ATTRIBUTE)
    report('long-attribute', span, `Names of attributes have at most ${LONGEST_ATTRIBUTE} characters.`);
  const meant = likelyName(name, contextAttributes);
  if (meant !== undefined)
    report(
      'misspelled-attribute',
      span,
      `${name} is no attribute of CloudEvents itself: did you mean ${meant}?`,
    );
  if (/[A-Z]/.test(written.replace(/^[(\s]*EXISTS\b/i, '')))
    report('upper-case-attribute', span, `Names of attributes are in lower case: this is read as ${name}.`);
}

function warnFunction(node: Expression & { type: 'call' }, { functions, report }: Linting): void {
  if (functions.find(node.name, node.args.length) !== undefined) return;
  const arity = functions.arity(node.name);
  const meant = likelyName(node.name, functions.names);
  const hint = meant === undefined ? '' : ` Did you mean ${meant}?`;
  const message =
    arity === undefined
      ? `There is no function ${node.name}.${hint}`
      : `${node.name} takes ${arity}, not ${node.args.length}.`;
  report('unknown-function', node, message);
}

/** A constant part is evaluated once, to see whether it can be. */
function warnFailure(node: Expression, { functions, locate, report }: Linting): boolean {
  const errors = evaluated(node, functions, locate).failures.errors;
  for (const { message, position } of errors)
    report('always-fails', { start: position.offset, end: position.end }, message);
  return errors.length > 0;
}

function evaluated(node: Expression, functions: FunctionTable, locate: Locate) {
  const failures: Failures = { errors: [], complete: true, locate };
  const evaluator = compileNode(node, { functions, ...unshared, onFailedCall: () => {} });
  return { value: evaluator({}, failures), failures };
}

function warnConstant(node: Expression, linting: Linting): void {
  if (warnFailure(node, linting) || node.type === 'literal') return;
  const { value } = evaluated(node, linting.functions, linting.locate);
  linting.report('constant', node, `This is ${shown(value)} for every event.`);
}

function warnUnguarded({ report, syntax }: Linting): void {
  const reported = new Set<string>();
  for (const read of unguardedReads(syntax)) {
    const { name } = read;
    if (reported.has(name) || name === DATA) continue;
    reported.add(name);
    report(
      'unguarded-or',
      read,
      `Without ${name} the whole is an error, whatever is behind OR: write EXISTS ${name} AND before it, in parentheses.`,
    );
  }
}

function warnType({ functions, report, syntax }: Linting): void {
  const type = typeOfExpression(syntax, functions);
  if (type !== 'Integer' && type !== 'String') return;
  report('not-boolean', syntax, `The value is of type ${type}: as a filter this lets no event pass.`);
}

/** Constant operands that cannot be cast to what their operator takes. */
function warnCasts(node: Expression, constants: readonly boolean[], linting: Linting): void {
  const { functions, locate, report } = linting;
  partsOf(node).forEach((part, index) => {
    const type = constants[index] === true ? operandType(node, index, functions) : null;
    if (type === null) return;
    const { value } = evaluated(part, functions, locate);
    if (value !== undefined && castTo(value, type) === undefined)
      report('always-fails', part, uncastable(value, type));
  });
}

/** The type that an operator casts an operand to, or null where there is no such cast. */
function operandType(node: Expression, index: number, functions: FunctionTable): ValueType | null {
  switch (node.type) {
    case 'not':
    case 'logic':
      return 'Boolean';
    case 'negate':
    case 'order':
    case 'arithmetic':
      return 'Integer';
    case 'call': {
      const definition = functions.find(node.name, node.args.length);
      const type = definition === undefined ? 'Any' : parameterType(definition, index);
      return type === 'Any' ? null : type;
    }
    case 'equality':
      return index === 0 ? typeOfExpression(node.right, functions) : null;
    case 'in':
      return index === 0 ? null : typeOfExpression(node.operand, functions);
    case 'literal':
    case 'attribute':
    case 'exists':
    case 'like':
      return null;
  }
}
