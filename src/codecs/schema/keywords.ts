import { numberOf } from '../json/lossless.ts';
import { isObject, type JsonObject } from '../json/values.ts';

/** Keywords whose value is one schema, or true or false. */
const oneSchema: ReadonlySet<string> = new Set([
  'items',
  'additionalItems',
  'additionalProperties',
  'unevaluatedItems',
  'unevaluatedProperties',
  'contains',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
]);
/** Keywords whose value is a list of schemas. `items` is one in drafts before 2020-12. */
const schemaLists: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems', 'items']);
/** Keywords whose value names schemas: what stands in them are names, never keywords. */
const schemaMaps: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
]);

/** Keywords that do not constrain the value. */
export const annotations: ReadonlySet<string> = new Set([
  'description',
  'title',
  'default',
  'example',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
  'format',
  'contentEncoding',
  'contentMediaType',
  'propertyOrdering',
]);
/** Names of the document and of places in it, and labels of its author: no one misses them. */
export const silent: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  'id',
  '$comment',
  '$anchor',
  '$vocabulary',
  '$defs',
  'definitions',
  'title',
  'propertyOrdering',
  'discriminator',
]);

export const typeNames = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'] as const;
export type TypeName = (typeof typeNames)[number];

/** Keywords that apply to values of one type only, by which the type of a schema without one is inferred. */
export const typeOfKeyword: ReadonlyMap<string, TypeName> = new Map<string, TypeName>([
  ...[
    'properties',
    'required',
    'additionalProperties',
    'patternProperties',
    'propertyNames',
    'minProperties',
    'maxProperties',
    'dependentRequired',
    'dependentSchemas',
    'unevaluatedProperties',
    'propertyOrdering',
  ].map((key): [string, TypeName] => [key, 'object']),
  ...[
    'items',
    'prefixItems',
    'additionalItems',
    'minItems',
    'maxItems',
    'uniqueItems',
    'contains',
    'minContains',
    'maxContains',
    'unevaluatedItems',
  ].map((key): [string, TypeName] => [key, 'array']),
  ...['minLength', 'maxLength', 'pattern', 'contentEncoding', 'contentMediaType'].map(
    (key): [string, TypeName] => [key, 'string'],
  ),
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'].map(
    (key): [string, TypeName] => [key, 'number'],
  ),
]);

/** The JSON Schema type of a value. */
export function typeOfValue(value: unknown): TypeName {
  const number = numberOf(value);
  if (number !== null) return Number.isInteger(number) ? 'integer' : 'number';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'boolean';
    default:
      return 'object';
  }
}

/** The types that a schema names, in its own order; none when it names none. Google writes them in upper case. */
export function typesOf({ type }: JsonObject): TypeName[] {
  const names = (Array.isArray(type) ? type : [type]).flatMap((one) => {
    const name = typeof one === 'string' ? one.toLowerCase() : '';
    return typeNames.filter((typeName) => typeName === name);
  });
  return [...new Set(names)];
}

/**
 * The schema with `visit` done to each schema directly inside it. Names of properties are never taken for keywords,
 * and values (`enum`, `const`, `default`) never for schemas.
 */
export function mapInner(
  schema: JsonObject,
  visit: (inner: unknown, keyword: string, name: string | null) => unknown,
): JsonObject {
  const entries = Object.entries(schema).map(([key, value]): [string, unknown] => {
    if (schemaMaps.has(key) && isObject(value)) {
      const inner = Object.entries(value).map(([name, one]) => [name, visit(one, key, name)] as const);
      return [key, Object.fromEntries(inner)];
    }
    if (schemaLists.has(key) && Array.isArray(value)) return [key, value.map((one) => visit(one, key, null))];
    if (oneSchema.has(key) && (isObject(value) || typeof value === 'boolean'))
      return [key, visit(value, key, null)];
    return [key, value];
  });
  return Object.fromEntries(entries);
}

/** The schema without some of its keywords. */
export function without(schema: JsonObject, ...keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => !keys.includes(key)));
}

/** The schema with one keyword in the place of another. */
export function replaced(schema: JsonObject, key: string, by: string, value: unknown): JsonObject {
  const entries = Object.entries(schema).filter(([name]) => name === key || name !== by);
  return Object.fromEntries(entries.map((entry) => (entry[0] === key ? [by, value] : entry)));
}
