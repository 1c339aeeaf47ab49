import { isObject, type JsonObject, objectOf, textOrNull } from '../../json/values.ts';
import type { SchemaWords } from '../wire.ts';

/** Keywords that the vendor refuses in an output's schema ("Structured outputs", JSON Schema limitations). */
const refused: ReadonlySet<string> = new Set([
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'maxItems',
  'uniqueItems',
  'contains',
  'minContains',
  'maxContains',
  'minProperties',
  'maxProperties',
  'propertyNames',
  'patternProperties',
  'dependentRequired',
  'dependentSchemas',
  'not',
  'if',
  'then',
  'else',
]);
const formats: ReadonlySet<unknown> = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'uri',
  'ipv4',
  'ipv6',
  'uuid',
]);
/** Keywords that name the dialect and the document, and say nothing of the value. */
const silent: ReadonlySet<string> = new Set(['$schema', '$id', '$comment']);
const schemaMaps: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions']);
const schemaLists: ReadonlySet<string> = new Set(['anyOf', 'allOf', 'oneOf', 'prefixItems']);

/** Deeper schemas are left as they are, for the vendor to refuse. */
const MAX_DEPTH = 64;

/**
 * Whether an object of the schema may have entries of any name. The vendor takes no such object ("`additionalProperties` must
 * be `false`"); closed, it could have no entry at all, so the schema is written into the prompt instead.
 */
export function hasMap(schema: JsonObject): boolean {
  const waiting: unknown[] = [schema];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (!isObject(next)) continue;
    if (isOpen(next)) return true;
    for (const [key, value] of Object.entries(next)) {
      if (key === 'items') waiting.push(value);
      if (schemaLists.has(key) && Array.isArray(value)) waiting.push(...value);
      if (schemaMaps.has(key) && isObject(value)) waiting.push(...Object.values(value));
    }
  }
  return false;
}

function isOpen(schema: SchemaWords): boolean {
  const { additionalProperties: others, patternProperties, properties } = schema;
  if (isObject(patternProperties) || (others !== undefined && others !== null && others !== false))
    return true;
  return others !== false && isObjectSchema(schema) && properties === undefined;
}

/** The instruction for an answer whose schema the vendor does not accept. */
export function schemaText(schema: JsonObject): string {
  return `Answer with one JSON value that follows this JSON Schema, without a code fence, and with nothing else:\n${JSON.stringify(schema)}`;
}

/**
 * A schema as the vendor takes it for an answer: every object closed, and what it cannot enforce described to the model
 * in the description instead, as the vendor's own SDKs do.
 */
export function outputSchema(schema: JsonObject): JsonObject {
  return fitted(schema, 0);
}

function fitted(schema: JsonObject, depth: number): JsonObject {
  if (depth > MAX_DEPTH) return schema;
  const result = new Map<string, unknown>();
  const refusedKeywords: string[] = [];
  for (const [key, value] of Object.entries(schema)) {
    if (silent.has(key)) continue;
    if (isRefused(key, value)) refusedKeywords.push(`${key}: ${JSON.stringify(value)}`);
    // The vendor does not support "exactly one".
    else result.set(key === 'oneOf' && !('anyOf' in schema) ? 'anyOf' : key, inner(key, value, depth + 1));
  }
  if (isObjectSchema(schema)) result.set('additionalProperties', false);
  if (refusedKeywords.length > 0) {
    const original = textOrNull(objectOf<SchemaWords>(schema).description);
    const description = original === null ? '' : `${original}\n\n`;
    result.set('description', `${description}{${refusedKeywords.join(', ')}}`);
  }
  return Object.fromEntries(result);
}

function isRefused(key: string, value: unknown): boolean {
  if (key === 'minItems') return value !== 0 && value !== 1;
  if (key === 'format') return !formats.has(value);
  return refused.has(key);
}

function isObjectSchema({ properties, type }: SchemaWords): boolean {
  if (type === undefined) return isObject(properties);
  return type === 'object' || (Array.isArray(type) && type.includes('object'));
}

function inner(key: string, value: unknown, depth: number): unknown {
  const one = (schema: unknown) => (isObject(schema) ? fitted(schema, depth) : schema);
  if (key === 'items') return one(value);
  if (schemaLists.has(key) && Array.isArray(value)) return value.map(one);
  if (schemaMaps.has(key) && isObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, one(schema)]));
  return value;
}
