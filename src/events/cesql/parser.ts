import { type CesqlError, locator, type Span, shown } from './error.ts';
import { type Keyword, type Punctuation, type Token, tokenAt } from './lexer.ts';
import { nameHint, operatorHint } from './parse-hints.ts';
import { type Expression, type LogicOperator, partsOf } from './syntax.ts';

export interface ParseOptions {
  /** Longest expression that is read, in UTF-16 units. */
  maxLength?: number;
  /** How deep operators, parentheses and calls may be nested. */
  maxDepth?: number;
}

const defaultMaxLength = 16_384;
const defaultMaxDepth = 200;

export type Parsed =
  | {
      ok: true;
      expression: Expression;
      /** Texts with a doubled quote in them, which stands for two quotes. */
      doubledQuotes: readonly Span[];
    }
  | { ok: false; error: CesqlError };

/** How tightly operators bind; `NOT` and `-` before an operand bind tighter than all of them. */
const binding = { logic: 1, comparison: 2, additive: 3, multiplicative: 4, in: 5, like: 6 } as const;

/** Leaves the parser with its one error; it never leaves this module. */
class Refusal extends Error {
  readonly span: Span;
  constructor(span: Span, message: string) {
    super(message);
    this.span = span;
  }
}

interface Reader {
  readonly text: string;
  readonly maxDepth: number;
  readonly doubledQuotes: Span[];
  at: number;
  depth: number;
  /** The last attribute that was read. */
  lastName: Span;
}

/** Parses a CESQL expression. Never throws: what is no expression gives a `parse` error with its place. */
export function parse(text: string, options: ParseOptions = {}): Parsed {
  const { maxDepth = defaultMaxDepth, maxLength = defaultMaxLength } = options;
  const reader: Reader = {
    text,
    maxDepth,
    doubledQuotes: [],
    at: 0,
    depth: 0,
    lastName: { start: 0, end: 0 },
  };
  try {
    if (text.length > maxLength)
      throw new Refusal({ start: 0, end: 0 }, `This expression is too long: ${text.length} of ${maxLength}.`);
    const expression = readExpression(reader, binding.logic);
    const rest = peek(reader, false);
    if (rest.type !== 'end') throw unexpectedOperator(reader, rest);
    checkDepth(expression, maxDepth);
    return { ok: true, expression, doubledQuotes: reader.doubledQuotes };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const position = locator(text)(error.span);
    return { ok: false, error: { kind: 'parse', message: error.message, position } };
  }
}

function peek(reader: Reader, operand: boolean): Token {
  const token = tokenAt(reader.text, reader.at, operand);
  if (token.type === 'error') throw new Refusal(token, token.message);
  return token;
}

/** Takes the token that the reader has just looked at. */
function take(reader: Reader, token: Token): void {
  reader.at = token.end;
}

function expectSymbol(reader: Reader, symbol: '(' | ')', why: string): Token {
  const token = peek(reader, false);
  if (token.type !== 'symbol' || token.symbol !== symbol)
    throw new Refusal(token, `Expected ${symbol} ${why}, found ${named(reader, token)}.`);
  take(reader, token);
  return token;
}

function named(reader: Reader, token: Token): string {
  return token.type === 'end' ? 'the end' : shown(reader.text.slice(token.start, token.end));
}

/** An operand and all operators behind it that bind at least as tightly as `least`. */
function readExpression(reader: Reader, least: number): Expression {
  let left = readOperand(reader);
  for (;;) {
    const longer = readSuffix(reader, left) ?? readBinary(reader, left, least);
    if (longer === null) return least <= binding.logic ? readLogic(reader, left) : left;
    left = longer;
  }
}

/** `AND`, `OR` and `XOR` stand on one level: a chain of them is one node. */
function readLogic(reader: Reader, first: Expression): Expression {
  const operands = [first];
  const operators: LogicOperator[] = [];
  for (;;) {
    const token = peek(reader, false);
    const operator = token.type === 'keyword' ? logicOperator(token.keyword) : null;
    if (operator === null) break;
    take(reader, token);
    operators.push(operator);
    operands.push(readExpression(reader, binding.comparison));
  }
  const last = operands.at(-1) ?? first;
  return operators.length === 0
    ? first
    : { type: 'logic', operands, operators, start: first.start, end: last.end };
}

function logicOperator(keyword: Keyword): LogicOperator | null {
  return keyword === 'AND' || keyword === 'OR' || keyword === 'XOR' ? keyword : null;
}

/** `LIKE 'pattern'` and `IN (…)`, also with NOT before: they bind tighter than every operator of two operands. */
function readSuffix(reader: Reader, operand: Expression): Expression | null {
  const first = peek(reader, false);
  if (first.type !== 'keyword') return null;
  const negated = first.keyword === 'NOT';
  const start = reader.at;
  if (negated) take(reader, first);
  const token = negated ? peek(reader, false) : first;
  const keyword = token.type === 'keyword' ? token.keyword : null;
  if (keyword === 'LIKE' || keyword === 'IN') {
    take(reader, token);
    return keyword === 'LIKE' ? readPattern(reader, operand, negated) : readSet(reader, operand, negated);
  }
  reader.at = start;
  return null;
}

function readPattern(reader: Reader, operand: Expression, negated: boolean): Expression {
  const token = peek(reader, true);
  if (token.type !== 'string')
    throw new Refusal(token, `The pattern of LIKE is a text in quotes, not ${named(reader, token)}.`);
  takeText(reader, token);
  return {
    type: 'like',
    negated,
    operand,
    pattern: token.value,
    start: operand.start,
    end: token.end,
  };
}

function readSet(reader: Reader, operand: Expression, negated: boolean): Expression {
  expectSymbol(reader, '(', 'after IN');
  const next = peek(reader, true);
  if (next.type === 'symbol' && next.symbol === ')')
    throw new Refusal(next, 'The set of IN has at least one element.');
  const { items, end } = readList(reader, 'the set of IN');
  return { type: 'in', negated, operand, elements: items, start: operand.start, end };
}

/** One or more expressions up to the closing parenthesis, which is taken. */
function readList(reader: Reader, what: string): { items: Expression[]; end: number } {
  const items: Expression[] = [];
  for (;;) {
    items.push(nested(reader, () => readExpression(reader, binding.logic)));
    const token = peek(reader, false);
    if (token.type === 'symbol' && token.symbol === ',') {
      take(reader, token);
      continue;
    }
    return { items, end: expectSymbol(reader, ')', `or , in ${what}`).end };
  }
}

/** An operator of two operands and its right operand, or null when the next token is none that binds so tightly. */
function readBinary(reader: Reader, left: Expression, least: number): Expression | null {
  const token = peek(reader, false);
  if (token.type !== 'symbol') return null;
  const tightness = tightnessOf(token.symbol);
  if (tightness === null || tightness < least) return null;
  take(reader, token);
  const right = readExpression(reader, tightness + 1);
  const span = { left, right, start: left.start, end: right.end };
  switch (token.symbol) {
    case '=':
      return { type: 'equality', operator: '=', ...span };
    case '!=':
    case '<>':
      return { type: 'equality', operator: '!=', ...span };
    case '<':
    case '<=':
    case '>':
    case '>=':
      return { type: 'order', operator: token.symbol, ...span };
    case '*':
    case '/':
    case '%':
    case '+':
    case '-':
      return { type: 'arithmetic', operator: token.symbol, ...span };
    case '(':
    case ')':
    case ',':
      return null;
  }
}

function tightnessOf(symbol: Punctuation): number | null {
  switch (symbol) {
    case '=':
    case '!=':
    case '<>':
    case '<':
    case '<=':
    case '>':
    case '>=':
      return binding.comparison;
    case '+':
    case '-':
      return binding.additive;
    case '*':
    case '/':
    case '%':
      return binding.multiplicative;
    case '(':
    case ')':
    case ',':
      return null;
  }
}

function readOperand(reader: Reader): Expression {
  const token = peek(reader, true);
  switch (token.type) {
    case 'integer':
      take(reader, token);
      return { type: 'literal', value: token.value, start: token.start, end: token.end };
    case 'string':
      takeText(reader, token);
      return { type: 'literal', value: token.value, start: token.start, end: token.end };
    case 'name':
      take(reader, token);
      return readNamed(reader, token);
    case 'keyword':
      take(reader, token);
      return readKeyword(reader, token, token.keyword);
    case 'symbol':
      if (token.symbol === '(') return readParentheses(reader, token);
      if (token.symbol === '-') {
        take(reader, token);
        const operand = nested(reader, () => readOperand(reader));
        return { type: 'negate', operand, start: token.start, end: operand.end };
      }
      throw missingOperand(reader, token);
    case 'end':
      throw missingOperand(reader, token);
  }
}

function takeText(reader: Reader, token: Token & { type: 'string' }): void {
  take(reader, token);
  if (token.doubled) reader.doubledQuotes.push({ start: token.start, end: token.end });
}

/** The expression in parentheses; its place in the text includes them. */
function readParentheses(reader: Reader, open: Token): Expression {
  take(reader, open);
  const inner = nested(reader, () => readExpression(reader, binding.logic));
  const close = expectSymbol(reader, ')', `to match the ( in column ${columnOf(reader, open)}`);
  return { ...inner, start: open.start, end: close.end };
}

function readKeyword(reader: Reader, token: Token, keyword: Keyword): Expression {
  const { end, start } = token;
  switch (keyword) {
    case 'TRUE':
      return { type: 'literal', value: true, start, end };
    case 'FALSE':
      return { type: 'literal', value: false, start, end };
    case 'NOT': {
      const operand = nested(reader, () => readOperand(reader));
      return { type: 'not', operand, start, end: operand.end };
    }
    case 'EXISTS': {
      const name = peek(reader, false);
      if (name.type !== 'name' && name.type !== 'integer')
        throw new Refusal(name, `EXISTS takes the name of an attribute, not ${named(reader, name)}.`);
      take(reader, name);
      return { type: 'exists', name: attributeName(reader, name), start, end: name.end };
    }
    case 'AND':
    case 'OR':
    case 'XOR':
    case 'LIKE':
    case 'IN':
      throw missingOperand(reader, token);
  }
}

/** A call when a parenthesis follows, else an attribute. */
function readNamed(reader: Reader, name: Token): Expression {
  const next = peek(reader, false);
  if (next.type !== 'symbol' || next.symbol !== '(') {
    reader.lastName = name;
    return { type: 'attribute', name: attributeName(reader, name), start: name.start, end: name.end };
  }
  const text = reader.text.slice(name.start, name.end);
  if (/[0-9]/.test(text))
    throw new Refusal(name, `A function's name has only letters and underscores: ${shown(text)} has digits.`);
  take(reader, next);
  const call = { type: 'call', name: text.toUpperCase(), start: name.start } as const;
  const first = peek(reader, true);
  if (first.type === 'symbol' && first.symbol === ')') {
    take(reader, first);
    return { ...call, args: [], end: first.end };
  }
  const { items, end } = readList(reader, `the arguments of ${call.name}`);
  return { ...call, args: items, end };
}

function attributeName(reader: Reader, token: Token): string {
  const text = reader.text.slice(token.start, token.end);
  if (text.includes('_'))
    throw new Refusal(token, `An attribute's name has only letters and digits: ${shown(text)}.`);
  return text.toLowerCase();
}

function nested<T>(reader: Reader, read: () => T): T {
  if (reader.depth >= reader.maxDepth) throw tooDeep(peek(reader, true), reader.maxDepth);
  reader.depth += 1;
  const result = read();
  reader.depth -= 1;
  return result;
}

function tooDeep(span: Span, maxDepth: number): Refusal {
  return new Refusal(span, `This expression is nested too deeply: ${maxDepth} levels are read.`);
}

/** Chains such as `1 + 1 + …` nest to the left without any recursion of the parser. */
function checkDepth(root: Expression, maxDepth: number): void {
  let level: readonly Expression[] = [root];
  for (let depth = 0; level.length > 0; depth += 1) {
    const [first] = level;
    if (depth > maxDepth && first !== undefined) throw tooDeep(first, maxDepth);
    level = level.flatMap(partsOf);
  }
}

function missingOperand(reader: Reader, token: Token): Refusal {
  const found = named(reader, token);
  const hint = operatorHint(reader.text, token.start);
  return new Refusal(token, `Expected an attribute, a literal, a function or (, found ${found}.${hint}`);
}

/** What stands where only an operator or the end may stand. */
function unexpectedOperator(reader: Reader, token: Token): Refusal {
  const found = named(reader, token);
  const { end, start } = reader.lastName;
  const before = reader.text.slice(end, token.start).trim() === '' ? reader.text.slice(start, end) : '';
  const hint = nameHint(reader.text.slice(token.start, token.end), before);
  if (token.type === 'symbol' && token.symbol === ')')
    return new Refusal(token, 'This ) closes nothing: an opening ( is missing.');
  return new Refusal(token, `Expected an operator or the end, found ${found}.${hint}`);
}

function columnOf(reader: Reader, span: Span): number {
  return locator(reader.text)(span).column;
}
