import type { Condition, ListQuery, Page, Row } from '../resource.ts';
import { type Attributes, type Kind, valueAt } from './attributes.ts';
import { instantOf } from './filter.ts';
import { type Budget, compilePattern, isIn } from './pattern.ts';

type Test = (value: unknown) => boolean;

/** What the patterns of one query may take: a tenth of a second, in which no other request is served. */
const PATTERN_STEPS = 1_000_000;

/**
 * The page of the rows that a query asks for: filtered, sorted, cut. What is null or absent comes last in either order,
 * and rows that sort alike keep their order.
 * @throws GatewayError `invalid_request` for a pattern that cannot be used
 */
export function select(rows: readonly Row[], query: ListQuery, attributes: Attributes): Page {
  const fits = filterOf(query.groups, attributes);
  const fitting = rows.filter(fits);
  const sorted = query.sort.length === 0 ? fitting : fitting.toSorted(orderOf(query, attributes));
  const { limit, offset } = query;
  return { rows: sorted.slice(offset, offset + limit), count: rows.length, filtered: fitting.length };
}

function filterOf(groups: ListQuery['groups'], attributes: Attributes): (row: Row) => boolean {
  if (groups.length === 0) return () => true;
  const budget: Budget = { steps: PATTERN_STEPS };
  const tests = groups.map((conditions) =>
    conditions.map((condition) => ({
      attribute: condition.attribute,
      test: testOf(condition, attributes.get(condition.attribute) ?? 'text', budget),
    })),
  );
  return (row) => tests.some((group) => group.every(({ attribute, test }) => test(valueAt(row, attribute))));
}

function testOf({ operator, value }: Condition, kind: Kind, budget: Budget): Test {
  switch (operator) {
    case '=':
      return anyOf(Array.isArray(value) ? equalsOne(value, kind) : equals(value, kind, true));
    case '!=':
      return not(anyOf(equals(value, kind, true)));
    case '==':
      return anyOf(equals(value, kind, false));
    case '!==':
      return not(anyOf(equals(value, kind, false)));
    case '=~':
      return anyOf(matches(String(value), budget));
    case '!~':
      return not(anyOf(matches(String(value), budget)));
    case '<':
      return ordered(value, kind, (difference) => difference < 0);
    case '<=':
      return ordered(value, kind, (difference) => difference <= 0);
    case '>':
      return ordered(value, kind, (difference) => difference > 0);
    case '>=':
      return ordered(value, kind, (difference) => difference >= 0);
  }
}

const not =
  (test: Test): Test =>
  (value) =>
    !test(value);

/** A list fits when one of its elements does. An empty one is not null. */
const anyOf =
  (test: Test): Test =>
  (value) =>
    Array.isArray(value) ? value.some(test) : test(value);

function equals(expected: Condition['value'], kind: Kind, wildcards: boolean): Test {
  if (expected === null) return (value) => value === null || value === undefined;
  const like = wildcards && typeof expected === 'string' && kind !== 'time' ? wildcardTest(expected) : null;
  if (like !== null) {
    return (value) => {
      const text = textOf(value);
      return text !== null && like(text);
    };
  }
  const target = comparable(expected, kind);
  return (value) => target !== null && comparable(value, kind) === target;
}

function equalsOne(expected: readonly unknown[], kind: Kind): Test {
  const targets = new Set(expected.map((one) => (kind === 'boolean' ? one : comparable(one, kind))));
  return (value) => {
    const one = kind === 'boolean' ? textOf(value) : comparable(value, kind);
    return one !== null && targets.has(one);
  };
}

function ordered(expected: Condition['value'], kind: Kind, holds: (difference: number) => boolean): Test {
  const target = comparable(expected, kind);
  return (value) => {
    const one = comparable(value, kind);
    return one !== null && target !== null && holds(difference(one, target));
  };
}

function matches(written: string, budget: Budget): Test {
  const end = written.lastIndexOf('/');
  const pattern = compilePattern(written.slice(1, end), written.endsWith('i') && end < written.length - 1);
  return (value) => {
    const text = textOf(value);
    return text !== null && isIn(pattern, text, budget);
  };
}

/**
 * Compares text with one where `*` and `%` stand for any characters; null for a text that has neither.
 */
function wildcardTest(expected: string): ((text: string) => boolean) | null {
  const parts = expected.split(/[*%]+/);
  const first = parts[0] ?? '';
  const last = parts.at(-1) ?? '';
  if (parts.length === 1) return null;
  const between = parts.slice(1, -1);
  return (text) => {
    if (text.length < first.length + last.length) return false;
    if (!text.startsWith(first) || !text.endsWith(last)) return false;
    const end = text.length - last.length;
    let at = first.length;
    for (const part of between) {
      const position = text.indexOf(part, at);
      if (position < 0 || position + part.length > end) return false;
      at = position + part.length;
    }
    return true;
  };
}

function orderOf({ sort, ignoreCase }: ListQuery, attributes: Attributes): (one: Row, other: Row) => number {
  return (one, other) => {
    for (const { attribute, descending } of sort) {
      const kind = attributes.get(attribute) ?? 'text';
      const [a, b] = [one, other].map((row) => {
        const value = comparable(valueAt(row, attribute), kind);
        return ignoreCase && typeof value === 'string' ? value.toLowerCase() : value;
      });
      if (a === b) continue;
      if (a === null || a === undefined) return 1;
      if (b === null || b === undefined) return -1;
      const order = difference(a, b);
      if (order !== 0) return descending ? -order : order;
    }
    return 0;
  };
}

/** The value as what compares like its kind; null for what is absent or of another kind. */
function comparable(value: unknown, kind: Kind): string | number | null {
  switch (kind) {
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? Number(value) : null;
    case 'time':
      return typeof value === 'string' ? instantOf(value) : null;
    case 'text':
    case 'list':
      return textOf(value);
    case 'map':
    case 'object':
      return null;
  }
}

/** Numbers by size, text by its characters' codes. */
function difference(one: string | number, other: string | number): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
}
