import { GatewayError } from '../../lib/error.ts';
import type { Condition } from '../resource.ts';
import { type Attributes, type Kind, kindAt } from './attributes.ts';

type Operator = Condition['operator'];
type Value = Condition['value'];

/** What a filter compares with, before the kind of the attribute is looked at. */
type Literal = { kind: 'null' } | { kind: 'text'; text: string } | { kind: 'list'; texts: readonly string[] };

const operators: readonly Operator[] = ['=', '!=', '<', '<=', '>', '>=', '==', '!==', '=~', '!~'];
const ordering: ReadonlySet<Operator> = new Set(['<', '<=', '>', '>=']);
const matching: ReadonlySet<Operator> = new Set(['=~', '!~']);

const EXPRESSION = /^\s*(?:(or)\s+)?([A-Za-z_][\w./-]*)\s*([=!<>~]+)(.*)/is;
const INSTANT = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?)?$/i;
const NUMBER = /^[+-]?(?:\d{1,17}(?:\.\d{0,17})?|\.\d{1,17})(?:e[+-]?\d{1,3})?$/i;

const MAX_FILTERS = 50;
const MAX_LENGTH = 2_000;
const MAX_VALUES = 200;

/**
 * Reads the values of `filter[]`, in ManageIQ's language: `attribute operator value`. All conditions must hold, or one
 * of those that begin with `or`.
 * @returns groups of conditions: all of a group hold, of the groups any
 * @throws GatewayError `invalid_request`, the same for an attribute that does not exist and one that the caller may not
 *   see, so that nobody learns a hidden value by asking
 */
export function parseFilters(filters: readonly string[], attributes: Attributes): Condition[][] {
  if (filters.length > MAX_FILTERS) throw wrong(`at most ${MAX_FILTERS} filters can be given`);
  const together: Condition[] = [];
  const apart: Condition[][] = [];
  for (const filter of filters) {
    if (filter.trim() === '') continue;
    const { or, condition } = parseFilter(filter, attributes);
    if (or) apart.push([condition]);
    else together.push(condition);
  }
  return together.length > 0 ? [together, ...apart] : apart;
}

function parseFilter(filter: string, attributes: Attributes): { or: boolean; condition: Condition } {
  if (filter.length > MAX_LENGTH) throw wrong(`a filter has at most ${MAX_LENGTH} characters`);
  const match = EXPRESSION.exec(filter);
  if (match === null) throw wrong(`"${shortened(filter)}" is not a filter such as state='running'`);
  const [, or, attribute = '', sign = '', rest = ''] = match;
  const kind = kindAt(attributes, attribute);
  if (kind === undefined) throw unknownAttribute(attribute, 'filter[]');
  const operator = operators.find((candidate) => candidate === sign);
  if (operator === undefined)
    throw wrong(`"${shortened(sign)}" is not an operator; the operators are ${operators.join(' ')}`);
  if (kind === 'object' || kind === 'map') throw wrong(`"${attribute}" cannot be filtered by`);
  const value = valueFor(attribute, kind, operator, rest.trim());
  return { or: or !== undefined, condition: { attribute, operator, value } };
}

function valueFor(attribute: string, kind: Kind, operator: Operator, text: string): Value {
  if (matching.has(operator)) {
    if (kind !== 'text' && kind !== 'list')
      throw wrong(`"${attribute}" is not a text: ${operator} cannot be used with it`);
    return patternOf(text);
  }
  const literal = literalOf(text);
  if (literal.kind === 'null') {
    if (ordering.has(operator)) throw wrong(`nothing is ${operator} than NULL: use = or !=`);
    return null;
  }
  if (literal.kind === 'list') {
    if (operator !== '=') throw wrong('a list of values goes only with =');
    return literal.texts.map((one) => {
      const value = converted(attribute, kind, one);
      return typeof value === 'boolean' ? String(value) : value;
    });
  }
  if (ordering.has(operator) && (kind === 'boolean' || kind === 'list'))
    throw wrong(`"${attribute}" has no order, which ${operator} asks for`);
  return converted(attribute, kind, literal.text);
}

function converted(attribute: string, kind: Kind, text: string): string | number | boolean {
  switch (kind) {
    case 'number': {
      if (!NUMBER.test(text)) throw wrong(`"${attribute}" is a number, and "${shortened(text)}" is not`);
      return Number(text);
    }
    case 'boolean': {
      if (text !== 'true' && text !== 'false') throw wrong(`"${attribute}" is either true or false`);
      return text === 'true';
    }
    case 'time': {
      const instant = instantOf(text);
      if (instant === null)
        throw wrong(`"${attribute}" is a time like 2026-11-21T10:00:00Z, and "${shortened(text)}" is not`);
      return new Date(instant).toISOString();
    }
    case 'text':
    case 'list':
    case 'map':
    case 'object':
      return text;
  }
}

/** A time in milliseconds since the epoch, UTC where it names no zone; null for what is none. */
export function instantOf(text: string): number | null {
  const parts = INSTANT.exec(text);
  if (parts === null) return null;
  const zoned = parts[1] !== undefined || text.length === 10 ? text : `${text}Z`;
  const instant = Date.parse(zoned.replace(' ', 'T').toUpperCase());
  return Number.isNaN(instant) ? null : instant;
}

/** `'text'`, `"text"` with a doubled quote for one, `NULL`, `[a, b]` or a bare word. */
function literalOf(text: string): Literal {
  if (text === '') throw wrong("a filter needs a value, like state='running'; '' for the empty text");
  if (/^(?:null|nil)$/i.test(text)) return { kind: 'null' };
  if (text.startsWith('[')) return { kind: 'list', texts: listOf(text) };
  const quoted = quotedAt(text, 0);
  if (quoted === null) return { kind: 'text', text };
  if (quoted.end !== text.length) throw wrong(`unexpected text after the quoted text: ${shortened(text)}`);
  return { kind: 'text', text: quoted.text };
}

/** The quoted text that begins at a place; null when none begins there. */
function quotedAt(source: string, start: number): { text: string; end: number } | null {
  const quote = source[start];
  if (quote !== "'" && quote !== '"') return null;
  let text = '';
  for (let at = start + 1; ; ) {
    const next = source.indexOf(quote, at);
    if (next < 0) throw wrong(`a ${quote} has no end: ${shortened(source)}`);
    text += source.slice(at, next);
    if (source[next + 1] !== quote) return { text, end: next + 1 };
    text += quote;
    at = next + 2;
  }
}

function listOf(source: string): string[] {
  const texts: string[] = [];
  for (let at = 1; ; ) {
    while (source[at] === ' ') at++;
    const quoted = quotedAt(source, at);
    const end = quoted?.end ?? bareEnd(source, at);
    const text = quoted?.text ?? source.slice(at, end).trim();
    if (quoted === null && text === '') throw wrong(`a value of the list is missing: ${shortened(source)}`);
    if (texts.push(text) > MAX_VALUES) throw wrong(`a list has at most ${MAX_VALUES} values`);
    at = end;
    while (source[at] === ' ') at++;
    if (source[at] === ']' && at === source.length - 1) return texts;
    if (source[at] !== ',') throw wrong(`a list is written ['a', 'b']: ${shortened(source)}`);
    at++;
  }
}

function bareEnd(source: string, start: number): number {
  let at = start;
  while (at < source.length && source[at] !== ',' && source[at] !== ']') at++;
  return at;
}

/** The source of a pattern: `/a.c/`, `/a.c/i`, quoted or bare. The first two are kept as they are. */
function patternOf(text: string): string {
  if (/^\/.*\/i?$/s.test(text) && text.length > 1) return text;
  const quoted = quotedAt(text, 0);
  if (quoted !== null && quoted.end !== text.length) throw wrong('unexpected text after the quoted pattern');
  const source = quoted?.text ?? text;
  if (source === '') throw wrong('a pattern is missing');
  return `/${source}/`;
}

/** The same answer for what does not exist and for what the caller may not see. */
export function unknownAttribute(attribute: string, param: string): GatewayError {
  return new GatewayError('invalid_request', `There is no attribute "${shortened(attribute)}"`, { param });
}

function wrong(problem: string): GatewayError {
  return new GatewayError('invalid_request', `filter[]: ${problem}`, { param: 'filter[]' });
}

function shortened(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
