import { isObject, type JsonObject, objectsIn, textOr } from './json.ts';

const DEEPEST = 8;
const MOST_ITEMS = 16;
const MOST_VALUES = 1000;
const LONGEST_TEXT = 500;

/** Values for strings of a known format (JSON Schema 2020-12, 7.3). */
const byFormat: Readonly<Record<string, string>> = {
  date: '2026-01-15',
  'date-time': '2026-01-15T09:30:00Z',
  time: '09:30:00Z',
  duration: 'PT5M',
  email: 'demo@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
};

/**
 * Values for strings whose name says what will be done with them. Commands are harmless whatever the user wrote,
 * because a coding tool may run them without asking.
 */
const byName: readonly [RegExp, string][] = [
  [/^(cmd|commands?|script|shell|code|source)$/i, 'echo "Modelgate demo"'],
  [/url|uri|link/i, 'https://example.com/'],
  [/e?mail/i, 'demo@example.com'],
  [/(^|_)(dir|directory|cwd|workdir|folder)$/i, '.'],
  [/path|file_?name|^file$/i, 'README.md'],
];

/**
 * True for tools whose use changes something or sets others to work; the demo calls them only when the user names
 * them.
 */
export function isRisky(name: string): boolean {
  const words =
    /write|edit|delete|remove|create|update|patch|kill|exec|bash|shell|run|send|command|agent|task|workflow|schedule/i;
  return words.test(name);
}

/** Free text for a tool that takes no arguments by schema. */
export function exampleInput(toolName: string, userText: string): string {
  return isRisky(toolName) ? 'echo "Modelgate demo"' : shortened(userText);
}

/**
 * A plausible value for `schema`, with the user's text where a free string is wanted. Only required fields are filled.
 */
export function exampleOf(schema: JsonObject, userText: string): unknown {
  return exampleValue(schema, {
    root: schema,
    userText: shortened(userText),
    name: '',
    depth: 0,
    budget: { left: MOST_VALUES },
  });
}

interface Place {
  root: JsonObject;
  userText: string;
  /** Name of the field that the value is for. */
  name: string;
  depth: number;
  /** Shared by all places of one example: a schema that refers to itself can describe any number of values. */
  budget: { left: number };
}

function exampleValue(schemaInput: unknown, place: Place): unknown {
  place.budget.left -= 1;
  if (place.depth > DEEPEST || place.budget.left < 0) return null;
  const schema = resolved(schemaInput, place);
  if ('const' in schema) return schema['const'];
  if (Array.isArray(schema['enum']) && schema['enum'].length > 0)
    return chosen(schema['enum'], place.userText);
  if ('default' in schema) return schema['default'];
  if (Array.isArray(schema['examples']) && schema['examples'].length > 0) return schema['examples'][0];
  const alternatives = objectsIn(schema['anyOf'] ?? schema['oneOf']);
  const alternative = alternatives.find(({ type }) => type !== 'null') ?? alternatives[0];
  if (alternative !== undefined) {
    return exampleValue(
      { ...withoutAlternatives(schema), ...alternative },
      { ...place, depth: place.depth + 1 },
    );
  }
  switch (typeOf(schema)) {
    case 'object':
      return objectValue(schema, place);
    case 'array':
      return arrayValue(schema, place);
    case 'integer':
    case 'number':
      return numberValue(schema, place);
    case 'boolean':
      return false;
    case 'null':
      return null;
    default:
      return stringValue(schema, place);
  }
}

/** Follows a local `$ref` and folds `allOf` in. */
function resolved(schemaInput: unknown, place: Place): JsonObject {
  let schema = isObject(schemaInput) ? schemaInput : {};
  for (let hops = 0; typeof schema['$ref'] === 'string' && hops < DEEPEST; hops += 1) {
    const { $ref: reference, ...rest } = schema;
    schema = { ...targetOf(place.root, textOr(reference, '')), ...rest };
  }
  const all = objectsIn(schema['allOf']);
  place.budget.left -= all.length;
  if (all.length === 0 || place.depth > DEEPEST || place.budget.left < 0) return schema;
  const { allOf: _folded, ...merged } = schema;
  for (const part of all) {
    const member = resolved(part, { ...place, depth: place.depth + 1 });
    merged['properties'] = { ...asObject(merged['properties']), ...asObject(member['properties']) };
    merged['required'] = [...listOf(merged['required']), ...listOf(member['required'])];
    for (const [key, value] of Object.entries(member)) merged[key] ??= value;
  }
  return merged;
}

function targetOf(root: JsonObject, reference: string): JsonObject {
  if (!reference.startsWith('#')) return {};
  let node: unknown = root;
  for (const step of reference.slice(1).split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    node = isObject(node) && Object.hasOwn(node, key) ? node[key] : undefined;
  }
  return asObject(node);
}

function withoutAlternatives({ anyOf: _any, oneOf: _one, ...rest }: JsonObject): JsonObject {
  return rest;
}

function typeOf(schema: JsonObject): unknown {
  const type = schema['type'];
  if (Array.isArray(type)) return type.find((name) => name !== 'null') ?? 'null';
  if (type !== undefined) return type;
  if (schema['properties'] !== undefined || schema['required'] !== undefined) return 'object';
  if (schema['items'] !== undefined) return 'array';
  return 'string';
}

/** The member that the user's text names, else the first. */
function chosen(members: readonly unknown[], userText: string): unknown {
  const text = userText.toLowerCase();
  const named = members.find((member) => typeof member === 'string' && text.includes(member.toLowerCase()));
  return named ?? members[0];
}

function objectValue(schema: JsonObject, place: Place): JsonObject {
  const properties = asObject(schema['properties']);
  const entries: [string, unknown][] = [];
  for (const name of new Set(listOf(schema['required']))) {
    if (typeof name !== 'string') continue;
    const member = Object.hasOwn(properties, name) ? properties[name] : {};
    entries.push([name, exampleValue(member, { ...place, name, depth: place.depth + 1 })]);
  }
  return Object.fromEntries(entries);
}

function arrayValue(schema: JsonObject, place: Place): unknown[] {
  const inner = { ...place, depth: place.depth + 1 };
  const prefix = listOf(schema['prefixItems']).map((item) => exampleValue(item, inner));
  const items = resolved(schema['items'], place);
  if (prefix.length === 0 && typeOf(items) === 'string' && /^(cmd|commands?|argv)$/i.test(place.name)) {
    return ['echo', 'Modelgate demo'];
  }
  const most = Math.min(numberOr(schema['maxItems'], MOST_ITEMS), MOST_ITEMS);
  const itemCount = Math.min(Math.max(numberOr(schema['minItems'], 1), 1), most);
  while (prefix.length < itemCount) prefix.push(exampleValue(items, inner));
  return prefix;
}

/** A number that the user wrote, else 1; moved into the schema's bounds. */
function numberValue(schema: JsonObject, { userText }: Place): number {
  const integer = typeOf(schema) === 'integer';
  const written = /-?\d+(\.\d+)?/.exec(userText)?.[0];
  let value = written === undefined ? 1 : Number(written);
  if (integer) value = Math.trunc(value);
  const step = numberOr(schema['multipleOf'], integer ? 1 : 0);
  if (step > 0) value = Math.round(value / step) * step;
  const margin = step > 0 ? step : 1;
  const exclusiveLow = numberOr(schema['exclusiveMinimum'], Number.NEGATIVE_INFINITY) + margin;
  const exclusiveHigh = numberOr(schema['exclusiveMaximum'], Number.POSITIVE_INFINITY) - margin;
  const low = Math.max(numberOr(schema['minimum'], Number.NEGATIVE_INFINITY), exclusiveLow);
  const high = Math.min(numberOr(schema['maximum'], Number.POSITIVE_INFINITY), exclusiveHigh);
  return Math.min(Math.max(value, low), high);
}

function stringValue(schema: JsonObject, { name, userText }: Place): string {
  const format = textOr(schema['format'], '');
  const exampleOfFormat = Object.hasOwn(byFormat, format) ? byFormat[format] : undefined;
  const value =
    exampleOfFormat ?? byName.find(([pattern]) => pattern.test(name))?.[1] ?? (userText || 'demo');
  const longest = numberOr(schema['maxLength'], Number.POSITIVE_INFINITY);
  return [...value]
    .slice(0, longest)
    .join('')
    .padEnd(Math.min(numberOr(schema['minLength'], 0), LONGEST_TEXT), '.');
}

function shortened(text: string): string {
  return text.length <= LONGEST_TEXT
    ? text
    : [...text.slice(0, 2 * LONGEST_TEXT)].slice(0, LONGEST_TEXT).join('');
}

function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function numberOr(value: unknown, fallback: number): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : fallback;
}
