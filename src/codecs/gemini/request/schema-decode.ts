import { isObject, type JsonObject } from '../../json/values.ts';
import { wrong } from '../../json/wire-check.ts';
import type { SchemaWords } from '../wire.ts';
import { camel } from '../wire-names.ts';

/** Deeper than any schema that a person or a tool writes. */
const MAX_DEPTH = 100;

/**
 * A `Schema` of the Gemini API (a part of OpenAPI 3.0: types in capitals, `nullable`, counts as strings) as JSON
 * Schema. What is JSON Schema already stays as it is. @throws GatewayError for one nested too deeply
 */
export function jsonSchemaOf(schema: JsonObject, path: string, depth = 0): JsonObject {
  if (depth > MAX_DEPTH) throw wrong(path, `a schema of at most ${MAX_DEPTH} levels`);
  const inner = (value: unknown) => (isObject(value) ? jsonSchemaOf(value, path, depth + 1) : value);
  const result = new Map<string, unknown>();
  for (const [name, value] of Object.entries(camel(schema))) {
    const keywordValue = keyword(name, value, inner);
    if (keywordValue !== undefined) result.set(...keywordValue);
  }
  return nullable(Object.fromEntries(result));
}

/** Whether a schema has its types in capitals. Gemini CLI writes those where JSON Schema is expected too, and Google takes them. */
export function inCapitals({ type }: SchemaWords): boolean {
  return typeof type === 'string' && /^[A-Z]+$/.test(type);
}

/** Keywords whose values are counts, which ProtoJSON writes as strings. */
const counts: ReadonlySet<string> = new Set([
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'minProperties',
  'maxProperties',
]);
const schemaMaps: ReadonlySet<string> = new Set(['properties', '$defs', 'defs', 'definitions']);
const schemaLists: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);
const schemas: ReadonlySet<string> = new Set(['items', 'additionalProperties']);

/** The keyword in JSON Schema; undefined for one that does not constrain the value. */
function keyword(
  name: string,
  value: unknown,
  inner: (schema: unknown) => unknown,
): [string, unknown] | undefined {
  if (name === 'propertyOrdering' || (name === 'format' && value === 'enum')) return undefined;
  if (name === 'type') return typeOf(value);
  if (name === 'example') return ['examples', [value]];
  if (counts.has(name)) return [name, numberOf(value)];
  if (schemas.has(name)) return [name, inner(value)];
  if (schemaLists.has(name) && Array.isArray(value)) return [name, value.map(inner)];
  if (schemaMaps.has(name) && isObject(value))
    return [name, Object.fromEntries(Object.entries(value).map(([key, one]) => [key, inner(one)]))];
  return [name, value];
}

function typeOf(value: unknown): [string, unknown] | undefined {
  if (typeof value !== 'string') return ['type', value];
  return value === 'TYPE_UNSPECIFIED' ? undefined : ['type', value.toLowerCase()];
}

function numberOf(value: unknown): unknown {
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
}

/** `nullable` as one more type, and one more of the values where these are listed. */
function nullable({ nullable: also, ...schema }: SchemaWords): SchemaWords {
  if (also !== true) return also === undefined || also === false ? schema : { ...schema, nullable: also };
  const { anyOf, enum: values, type } = schema;
  return {
    ...schema,
    ...(typeof type === 'string' ? { type: [type, 'null'] } : {}),
    ...(Array.isArray(values) && !values.includes(null) ? { enum: [...values, null] } : {}),
    ...(Array.isArray(anyOf) && type === undefined ? { anyOf: [...anyOf, { type: 'null' }] } : {}),
  };
}
